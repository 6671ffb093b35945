import { SAFE_METHODS } from '../../base/methods.ts';
import type { Config } from '../../config/config.ts';
import { formatAddress } from '../../config/values/addresses.ts';
import { NOT_TUNNELLED } from '../../forward/client/upgrade-request.ts';
import { laneVia } from '../../routes/lanes.ts';
import type { FastRoute } from './fast-route.ts';
import { locationRules } from './locations.ts';
import { problemReply } from './problem-reply.ts';
import { literally, type Section, time, word } from './words.ts';

/** What a backend is for. */
type Use =
  /** Requests that may be sent again after any failure. */
  | 'again'
  /** Requests that the upstream may have acted on, even if no answer came. */
  | 'once';

/** The backends that a route needs: `once` is for requests with a body or with a method that is not idempotent. */
export function usesOf({ route: { methods } }: FastRoute): readonly Use[] {
  return methods !== undefined && [...methods].every((method) => SAFE_METHODS.has(method))
    ? ['again']
    : ['again', 'once'];
}

export function backendName({ name }: FastRoute, use: Use): string {
  return use === 'again' ? name : `${name}-once`;
}

/** The sections of one route's fast lane: what its backends share, then each backend. */
export function laneSections(fast: FastRoute, config: Config, retriesPath: string): readonly Section[] {
  const common = `${fast.name}-lane`;
  const servers = [serverLine(fast, config), `server bearerd unix@${retriesPath} id 2`];
  return [
    [`defaults ${common} from lanes`, laneRules(fast)],
    ...usesOf(fast).map(
      (use): Section => [
        `backend ${backendName(fast, use)} from ${common}`,
        [...retryRules(fast, use), ...servers],
      ],
    ),
  ];
}

/** HAProxy's form of the expression. */
const NEVER_TUNNELLED = NOT_TUNNELLED.source.replaceAll('\\/', '/');

function laneRules(fast: FastRoute): readonly string[] {
  const { route, credential, host } = fast;
  const isAuthorization = credential.header.toLowerCase() === 'authorization';
  return [
    `timeout connect ${time(route.timeouts.connectMs)}`,
    `timeout server ${time(route.timeouts.responseMs)}`,
    ...(isAuthorization ? [] : ['http-request del-header authorization']),
    `http-request set-header ${credential.header} %[var(txn.credential)]`,
    `http-request set-header host ${host}`,
    `http-request add-header via ${word(laneVia(route))}`,
    ...pathRules(fast),
    `http-response del-header ${word('^(keep-alive|proxy-connection|te|trailer|http2-settings|proxy-authenticate)$')} -m reg`,
    `http-response del-header upgrade unless { status 426 } !{ res.hdr(upgrade) -m reg -i ${word(NEVER_TUNNELLED)} }`,
    'http-response set-header connection upgrade if { res.hdr_cnt(upgrade) gt 0 }',
    `http-response return ${problemReply('upstream-invalid')} if { status gt 599 }`,
    ...locationRules(route),
  ];
}

function retryRules({ renews }: FastRoute, use: Use): readonly string[] {
  const on = ['conn-failure', use === 'again' ? 'empty-response junk-response' : '', renews ? '401' : ''];
  const line = `retry-on ${on.filter((word) => word !== '').join(' ')}`;
  return use === 'again' ? [line, 'http-reuse always'] : [line];
}

function pathRules({ route: { prefix, upstreamPrefix, basePath } }: FastRoute): readonly string[] {
  const asked = prefix === '/' ? '' : prefix;
  if (upstreamPrefix === asked) return [];
  if (upstreamPrefix === basePath + asked) return [`http-request set-path ${basePath}%[path]`];
  const [from, to] =
    upstreamPrefix === ''
      ? [`^${literally(asked)}/?(.*)`, '/\\1']
      : [`^${literally(asked)}(.*)`, `${upstreamPrefix}\\1`];
  return [`http-request replace-path ${word(from)} ${word(to)}`];
}

function serverLine({ route, server: { host, port, tls, isName } }: FastRoute, config: Config): string {
  const address = formatAddress({ kind: 'tcp', host, port });
  const name = new URL(route.upstreamOrigin).hostname.replace(/\.$/, '');
  const ca = word(config.tls.caFile ?? '@system-ca');
  return [
    // Closes idle connections before the upstream does: the reset of a connection in use would close the client's, too.
    `server upstream ${address} id 1 pool-purge-delay 1s`,
    // If there is no address, bearerd is the only server, and its answer says why.
    isName ? ' resolvers system resolve-prefer ipv4 init-addr libc,none' : '',
    tls ? ` ssl verify required verifyhost ${name} sni str(${name}) ca-file ${ca} alpn http/1.1` : '',
  ].join('');
}
