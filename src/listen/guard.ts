import { Problem } from '../base/problem.ts';
import type { Config } from '../config/config.ts';
import type { RequestHead } from '../forward/client/request-head.ts';
import type { Arrival } from './arrival.ts';
import { type Caller, type Callers, createCallers, namesOf } from './callers.ts';

/** Decides which clients may call. The checks are independent: a web page that passes one still meets the others. */
export interface Guard {
  /** Finds callers by their keys; undefined if clients need no key. */
  readonly callers: Callers | undefined;
  /** True if pages of other origins may call: what they may read depends on their `Origin`. */
  readonly allowsOrigins: boolean;
  /**
   * True if clients need a key, and a route has a name that is no name of ours otherwise. Then a host is refused only after
   * the key is known: a client without one gets the same answer for every host.
   */
  readonly hidesHosts: boolean;
  /** True if the hosts of a request tell the caller of no route that it may not use. */
  mayKnowHosts(caller: Caller, hosts: readonly (string | undefined)[], arrival: Arrival): boolean;
  /**
   * The host of a request, in lower case, without port and final dot: that of an absolute-form target, else of `Host` (RFC
   * 9112 §3.2.2); undefined if there is none. A Problem if one of the two is malformed, or not ours.
   */
  checkHosts(
    host: string | undefined,
    authority: string | undefined,
    arrival: Arrival,
  ): Problem | string | undefined;
  /**
   * Whether a web page may call. @returns the allowed cross origin; undefined for none; or a Problem
   *
   * @param authority of an absolute-form target
   */
  checkOrigin(
    head: RequestHead,
    authority: string | undefined,
    arrival: Arrival,
  ): Problem | string | undefined;
}

/** A host name, an IPv4 address or a bracketed IPv6 address, with or without a port. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{0,5})?$/i;
/** A character that no host name, address or port may hold (RFC 9110 §7.2, RFC 3986 §3.2.2). */
const NO_HOST = /[^a-z0-9._~!$&'()*+,;=:%[\]-]/i;
const MALFORMED_HOST = new Problem('bad-request');
const REFUSED_HOST = new Problem('host-refused');
const REFUSED_ORIGIN = new Problem('origin-refused');

type HostNames = Pick<Config, 'allowedHosts' | 'upstreamAddresses' | 'routes'>;
type GuardConfig = HostNames &
  Pick<Config, 'allowedOrigins' | 'upstream'> &
  Parameters<typeof createCallers>[0];

/** The guard of the listener for clients. */
export function createGuard(config: GuardConfig): Guard {
  return guardOf(config, ownNames(config));
}

/**
 * The guard of the admin listener. A route's name below `localhost` is for pages and programs of the API, so the admin
 * listener refuses it, unless it is an allowed host.
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
    // The rule keeps out web pages whose own name resolves to bearerd (DNS rebinding). No page reaches a Unix socket, and
    // clients of one write anything into `Host`: `unix`, or the path of the socket in escapes.
    (name !== undefined && (isOwn(name) || name === arrivedAt(arrival))) || arrival.byUnixSocket;

  const callers = createCallers(config);
  const isCommon = ownNames(commonNames(config));

  return {
    callers,
    allowsOrigins: origins.size > 0,
    hidesHosts: callers !== undefined && !config.routes.flatMap(namesOf).every(isCommon),

    mayKnowHosts({ own }, hosts, arrival) {
      if (own === undefined || arrival.byUnixSocket) return true;
      const isKnown = (name: string) => isCommon(name) || own.hosts.has(name) || name === arrivedAt(arrival);
      return hosts.every((host) => host === undefined || isKnown(hostName(host) ?? ''));
    },

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

/** The names that are ours on every address; `*.` stands for any name below. */
export function ownHosts(config: HostNames): readonly string[] {
  const { allowedHosts, upstreamAddresses } = config;
  // A configured address for a name means that clients reach bearerd by that name.
  const led = [...upstreamAddresses.keys()].map((origin) => new URL(origin).hostname);
  return ['localhost', '127.0.0.1', '[::1]', '*.localhost', ...allowedHosts, ...led, ...routeHosts(config)];
}

/** What the names of ours are without those that routes add. */
function commonNames({ allowedHosts, upstreamAddresses, upstream }: GuardConfig): HostNames {
  const ofBase = [...upstreamAddresses].filter(([origin]) => origin === upstream.origin);
  return { allowedHosts, upstreamAddresses: new Map(ofBase), routes: [] };
}

function routeHosts({ routes }: Pick<Config, 'routes'>): readonly string[] {
  return [...new Set(routes.flatMap(({ host }) => host ?? []))];
}

/** True if a `Host` is one of our names. */
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

/** The name in lower case, without port and one trailing dot; undefined if it is malformed. */
function hostName(host: string): string | undefined {
  const match = HOST.exec(host);
  if (match === null) return undefined;
  const name = match[1]!.toLowerCase();
  // An IPv6 address has several spellings, which are compared as one.
  if (name.startsWith('[')) return URL.parse(`http://${name}`)?.hostname;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The local address of the connection, as a `Host` would name it: a pod is probed at its own address. */
function arrivedAt({ address }: Arrival): string | undefined {
  if (address === undefined) return undefined;
  if (address.startsWith('::ffff:')) return address.slice(7);
  // Node adds the zone to a link-local address, and no `Host` has one (RFC 6874 §1).
  return address.includes(':') ? hostName(`[${address.replace(/%.*$/, '')}]`) : address;
}

/**
 * True if the page came from here: host and port of its origin are those of `Host`. If the client uses TLS here, its page
 * must, too; without TLS here, a server in front of us may use it.
 */
function isFromHere(origin: string, host: string | undefined, arrival: Arrival): boolean {
  if (host === undefined) return false;
  const match = /^(https?):\/\/(.+)$/.exec(origin);
  if (match === null || (match[1] === 'http' && arrival.byTls)) return false;
  const port = match[1] === 'https' ? ':443' : ':80';
  const withoutDefault = (text: string) => (text.endsWith(port) ? text.slice(0, -port.length) : text);
  return withoutDefault(match[2]!) === withoutDefault(host.toLowerCase());
}
