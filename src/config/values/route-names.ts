import { isIP } from 'node:net';
import { andThen, type Faults, type Parsed, problemIn } from './kind.ts';
import { parsePath } from './paths.ts';

/** What tells one route from another. */
export interface RouteKey {
  /** In lower case, without a port. */
  readonly host?: string | undefined;
  readonly prefix: string;
}

/** The name of a route: its prefix, or `//HOST/PREFIX`. No prefix begins with two slashes. */
export function routeName({ host, prefix }: RouteKey): string {
  return host === undefined ? prefix : `//${host}${prefix}`;
}

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const MAX_NAME_LENGTH = 253;

const FAULTS: Faults = [
  [(host) => host.includes('/'), 'must be a host name alone, without http:// and without a path'],
  [(host) => host.includes('*'), 'must name one host; * is not a wildcard here'],
  [
    (host) => isIP(host.replace(/^\[(.*)\](?::\d*)?$/, '$1').replace(/^([\d.]+):\d*$/, '$1')) !== 0,
    'must be a name and no address; a request for an address sees the routes without a host',
  ],
  [(host) => /:\d*$/.test(host), 'must be a name without a port; every port of it is meant'],
  [(host) => /[^\x20-\x7e]/.test(host), 'must be in ASCII, as a request has it (xn--…)'],
  [
    (host) => host.length > MAX_NAME_LENGTH || !NAME.test(host),
    'must be a host name, such as orders.localhost',
  ],
];

/** A host name, in lower case and without a dot at its end. */
export function parseRouteHost(text: string): Parsed<string> {
  const host = text.toLowerCase().replace(/\.$/, '');
  const problem = problemIn(host, FAULTS);
  return problem === undefined ? { value: host } : { problem };
}

/** `/PREFIX` or `//HOST/PREFIX`. */
export function parseRouteKey(text: string): Parsed<RouteKey> {
  const [, name, path] = /^\/\/([^/]*)(.*)$/s.exec(text) ?? [];
  if (name === undefined || path === undefined)
    return andThen(parsePath(text), (prefix) => ({ value: { prefix } }));
  const host = parseRouteHost(name);
  if ('problem' in host) return { problem: `has a host between // and /, which ${host.problem}` };
  if (path === '') return { problem: 'must go on behind its host: //HOST/PREFIX, or //HOST/ for all of it' };
  return andThen(parsePath(path), (prefix) => ({ value: { host: host.value, prefix } }));
}
