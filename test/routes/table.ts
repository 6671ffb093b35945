import { Secret } from '../../src/base/secret.ts';
import type { RouteConfig } from '../../src/config/sections/routes.ts';
import type { FixedCredential } from '../../src/login/credential.ts';
import type { SessionPlace } from '../../src/routes/closed-session-path.ts';
import { type RouteTable, upstreamTarget } from '../../src/routes/route-table.ts';
import { createRoutes, type RoutesByHost } from '../../src/routes/routes-by-host.ts';

export const ORIGIN = 'https://api.example.com';
export const OTHER_ORIGIN = 'https://other.example.com';
export const SESSION_PATH = '/api/identity/v1/session';
const NAMES = ['token', 'apiKey', 'reports'];

/** A route's credential, and its other settings. */
type Rule = string | ({ readonly credential: string } & Partial<RouteConfig>);

type Rules = Readonly<Record<string, Rule>> | readonly (readonly [prefix: string, rule: Rule])[];

/** A table of prefixes and credentials, with the default session endpoint. */
export function tableOf(rules: Rules, session: Partial<SessionPlace> = {}): RouteTable {
  return tablesOf(rules, session).at(undefined);
}

/** Tables for rules that may also have the form `//HOST/PREFIX`. @param where the rules are configured */
export function tablesOf(
  rules: Rules,
  session: Partial<SessionPlace> = {},
  where: string | undefined = undefined,
): RoutesByHost {
  const place = { origin: ORIGIN, basePath: '', path: SESSION_PATH, ...session };
  const entries = Array.isArray(rules) ? rules : Object.entries(rules);
  const configs = entries.map(
    ([name, rule]): RouteConfig => ({
      ...keyOf(name),
      upstream: { origin: place.origin, basePath: place.basePath },
      timeouts: { connectMs: 0, responseMs: 0, idleMs: 0 },
      clientAuthorization: 'replace',
      overrideHeaders: 'remove',
      scrub: false,
      ...(typeof rule === 'string' ? { credential: rule } : rule),
    }),
  );
  const origins = new Set([place.origin, ORIGIN, OTHER_ORIGIN]);
  const credentials = NAMES.map((name): [string, FixedCredential] => [
    name,
    {
      kind: 'fixed',
      name,
      header: 'Authorization',
      headerValue: new Secret(`Bearer ${name}`),
      value: new Secret(name),
      origins,
    },
  ]);
  return createRoutes({ routes: configs, place: where }, new Map(credentials), [place]);
}

function keyOf(name: string): Pick<RouteConfig, 'host' | 'prefix'> {
  const [, host, prefix] = /^\/\/([^/]+)(\/.*)$/.exec(name) ?? [];
  return host === undefined || prefix === undefined ? { prefix: name } : { host, prefix };
}

/** The result for a request: the route's name and the upstream's target, or the code of the refusal. */
export function outcomeOf(table: RouteTable, path: string, { method = 'GET', query = '' } = {}): string {
  const match = table.match(method, path);
  return match.ok ? `${match.route.name} -> ${upstreamTarget(match.route, path, query)}` : match.code;
}
