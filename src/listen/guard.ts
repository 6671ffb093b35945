import { Problem } from '../base/problem.ts';
import type { Config } from '../config/config.ts';
import type { RequestHead } from '../forward/client/request-head.ts';
import type { Arrival } from './arrival.ts';
import { type Callers, createCallers } from './callers.ts';

/** Who may call. Each check stands alone: a page that gets past one still meets the others. */
export interface Guard {
  /** Those of whom a key is asked; undefined where everybody may call. */
  readonly callers: Callers | undefined;
  /**
   * The name that a request is for, in lower case, without port and final dot: that of an absolute-form target, else of
   * its `Host` (RFC 9112 §3.2.2). Undefined for none, a Problem where one of the two is no host, or not ours.
   */
  checkHosts(
    host: string | undefined,
    authority: string | undefined,
    arrival: Arrival,
  ): Problem | string | undefined;
  /**
   * A web page's right to call. Gives the allowed cross origin, undefined for none, or a Problem.
   *
   * @param authority that of an absolute-form target
   */
  checkOrigin(
    head: RequestHead,
    authority: string | undefined,
    arrival: Arrival,
  ): Problem | string | undefined;
}

/** A host name, an IPv4 address or a bracketed IPv6 address, and a port. Nothing else is a `Host`. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{0,5})?$/i;
/** No host name, address or port has such a character (RFC 9110 §7.2, RFC 3986 §3.2.2). */
const NO_HOST = /[^a-z0-9._~!$&'()*+,;=:%[\]-]/i;
const MALFORMED_HOST = new Problem('bad-request');
const REFUSED_HOST = new Problem('host-refused');
const REFUSED_ORIGIN = new Problem('origin-refused');

type HostNames = Pick<Config, 'allowedHosts' | 'upstreamAddresses' | 'routes'>;
type GuardConfig = HostNames & Pick<Config, 'allowedOrigins'> & Parameters<typeof createCallers>[0];

/** Of the listener that clients use. */
export function createGuard(config: GuardConfig): Guard {
  return guardOf(config, ownNames(config));
}

/**
 * Of the admin listener. A name below `localhost` that is a route's is for the API's pages and programs, and for nothing
 * of ours.
 */
export function createAdminGuard(config: GuardConfig): Guard {
  const isOwn = ownNames({ ...config, routes: [] });
  const named = new Set(config.allowedHosts);
  const routed = new Set(routeHosts(config).filter((name) => name !== 'localhost' && !named.has(name)));
  return guardOf(config, (name) => isOwn(name) && !routed.has(name));
}

function guardOf(config: GuardConfig, isOwn: (name: string) => boolean): Guard {
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase()));

  const isOurs = (name: string | undefined, arrival: Arrival) =>
    // The rule keeps out web pages whose own name was made to lead here (DNS rebinding), and no page reaches a Unix
    // socket, whose clients write into `Host` what they like: `unix`, or the socket's path in escapes.
    (name !== undefined && (isOwn(name) || name === arrivedAt(arrival))) || arrival.byUnixSocket;

  return {
    callers: createCallers(config),

    checkHosts(host, authority, arrival) {
      const name = host === undefined ? undefined : hostName(host);
      if (host !== undefined && !isOurs(name, arrival))
        return NO_HOST.test(host) ? MALFORMED_HOST : REFUSED_HOST;
      if (authority === undefined) return name;
      const target = hostName(authority);
      return isOurs(target, arrival) ? target : REFUSED_HOST;
    },

    checkOrigin({ origin, originLines, fetchSite, host }, authority, arrival) {
      if (originLines > 1) return REFUSED_ORIGIN;
      if (origin !== undefined) {
        const lower = origin.toLowerCase();
        if (origins.has(lower)) return origin;
        return isFromHere(lower, authority ?? host, arrival) && fetchSite !== 'cross-site'
          ? undefined
          : REFUSED_ORIGIN;
      }
      return fetchSite === 'cross-site' ? REFUSED_ORIGIN : undefined;
    },
  };
}

/** The names that are ours wherever a connection arrives; `*.` stands for any name below. */
export function ownHosts(config: HostNames): readonly string[] {
  const { allowedHosts, upstreamAddresses } = config;
  // An address for a name means that the name leads to us.
  const led = [...upstreamAddresses.keys()].map((origin) => new URL(origin).hostname);
  return ['localhost', '127.0.0.1', '[::1]', '*.localhost', ...allowedHosts, ...led, ...routeHosts(config)];
}

function routeHosts({ routes }: Pick<Config, 'routes'>): readonly string[] {
  return [...new Set(routes.flatMap(({ host }) => host ?? []))];
}

/** Whether a `Host` is one of them. */
export function isOwnHost(host: string, config: HostNames): boolean {
  const name = hostName(host);
  return name !== undefined && ownNames(config)(name);
}

function ownNames(config: HostNames): (name: string) => boolean {
  const all = ownHosts(config);
  const exact = new Set(all.filter((name) => !name.startsWith('*')).map((name) => hostName(name) ?? name));
  const suffixes = all.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  return (name) =>
    exact.has(name) || suffixes.some((suffix) => name.length > suffix.length && name.endsWith(suffix));
}

/** The name in lower case, without port and without one trailing dot; undefined where it is no host at all. */
function hostName(host: string): string | undefined {
  const match = HOST.exec(host);
  if (match === null) return undefined;
  const name = match[1]!.toLowerCase();
  // An IPv6 address may be written in several ways, and is compared in one.
  if (name.startsWith('[')) return URL.parse(`http://${name}`)?.hostname;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The local address of the connection as a `Host` would name it: a pod is probed at its own address. */
function arrivedAt({ address }: Arrival): string | undefined {
  if (address === undefined) return undefined;
  if (address.startsWith('::ffff:')) return address.slice(7);
  return address.includes(':') ? `[${address.toLowerCase()}]` : address;
}

/**
 * An origin's host and port are those of the `Host` that it was sent with: the page came from here. Where TLS is spoken
 * here, a page by `http://` didn't; where it isn't, a server before us may speak it.
 */
function isFromHere(origin: string, host: string | undefined, arrival: Arrival): boolean {
  if (host === undefined) return false;
  const match = /^(https?):\/\/(.+)$/.exec(origin);
  if (match === null || (match[1] === 'http' && arrival.byTls)) return false;
  const port = match[1] === 'https' ? ':443' : ':80';
  const withoutDefault = (text: string) => (text.endsWith(port) ? text.slice(0, -port.length) : text);
  return withoutDefault(match[2]!) === withoutDefault(host.toLowerCase());
}
