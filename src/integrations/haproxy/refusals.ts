import type { ConfigFault } from '../../base/config-error.ts';
import type { Config } from '../../config/config.ts';
import { type HaproxySinkConfig, retriesPath } from '../../config/sections/sink-config.ts';
import {
  boundHosts,
  clash,
  formatAddress,
  isRemotelyReachable,
  type ListenAddress,
  parseAddress,
} from '../../config/values/addresses.ts';
import { asksForKey } from '../../listen/callers.ts';
import { isOwnHost } from '../../listen/guard.ts';
import type { Route } from '../../routes/route-table.ts';
import { outboundWay } from '../../upstream/outbound-proxy.ts';
import type { FastRoute } from './fast-route.ts';

/** What HAProxy would do otherwise than bearerd. Each fault names the setting, and what would be right. */
export function refusals(
  config: Config,
  listen: readonly ListenAddress[],
  { fast, slow }: { readonly fast: readonly FastRoute[]; readonly slow: ReadonlyMap<Route, string> },
): readonly ConfigFault[] {
  const faults: ConfigFault[] = [];
  const refuse = (key: string, problem: string) => faults.push({ key, problem });
  refuseSettings(config, refuse);
  refuseSinks(config, refuse);
  refuseListen(config, listen, refuse);
  for (const { route } of fast) {
    const { upstreamOrigin, upstreamAddress } = route;
    if (outboundWay(upstreamOrigin, config.outboundProxy, upstreamAddress).proxy === undefined) continue;
    const { protocol, hostname } = new URL(upstreamOrigin);
    const variable = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
    refuse(variable, `HAProxy can't use an outbound proxy; put ${hostname} into NO_PROXY`);
    break;
  }
  if (fast.length === 0) {
    const reasons = [...slow].map(([{ name }, why]) => `${name}: ${why}`);
    refuse('routes', `none can have a fast lane (${reasons.join('; ')})`);
  }
  return faults;
}

type Refuse = (key: string, problem: string) => void;

function refuseSettings(config: Config, refuse: Refuse): void {
  if (asksForKey(config))
    refuse('callerKey', 'HAProxy would let everybody in: do without caller keys, or without HAProxy');
  if (config.log.requestIdHeader !== undefined)
    refuse('log.requestIdHeader', "HAProxy can't give requests the same IDs; leave it out");
  if (config.listenTls !== undefined)
    refuse(
      'listenTls',
      'clients would have to speak TLS with HAProxy; leave it out, and give HAProxy the certificate',
    );
  if (config.tls.certFile !== undefined)
    refuse(
      'tls.certFile',
      'HAProxy needs certificate and key in one file, and bearerd has two; leave it out',
    );
}

function refuseSinks({ sinks }: Config, refuse: Refuse): void {
  const [sink, other] = sinks.filter((each) => each.kind === 'haproxy');
  if (sink === undefined)
    refuse(
      'sinks',
      'name no HAProxy; add - { haproxy: unix:/run/bearerd/haproxy.sock, map: /etc/haproxy/credentials.map }',
    );
  else if (other !== undefined) refuse('sinks', 'name more than one HAProxy; a configuration is for one');
  else refusePaths(sink, refuse);
}

function refusePaths({ path, map }: HaproxySinkConfig, refuse: Refuse): void {
  if (!PLAIN_FILE.test(path)) refuse('sinks.haproxy', 'must be a path of letters, digits and / . _ @ + ~ -');
  const address = parseAddress(`unix:${retriesPath({ path })}`);
  if ('problem' in address)
    refuse('sinks.haproxy', 'is too long: bearerd adds .retries for a socket of its own');
  if (!PLAIN_FILE.test(map))
    refuse('sinks.map', 'must be an absolute path of letters, digits and / . _ @ + ~ -');
}

const PLAIN_FILE = /^\/[\w./@+~-]+$/;

function refuseListen(config: Config, listen: readonly ListenAddress[], refuse: Refuse): void {
  if (slowLane(config) === undefined)
    refuse('listen', 'needs an address HOST:PORT with a port of its own, where HAProxy finds bearerd');
  for (const address of listen) {
    const text = formatAddress(address);
    if (address.kind === 'unix') {
      refuse(
        '--listen',
        'must be HOST:PORT: bearerd accepts any Host on a Unix socket, but not from HAProxy',
      );
      continue;
    }
    const taken = [...config.listen, ...config.adminListen, ...config.probesListen].find((other) =>
      clash(other, address),
    );
    if (taken !== undefined) refuse('--listen', `${text} is taken: bearerd has ${formatAddress(taken)}`);
    if (address.port === 0) refuse('--listen', 'needs a port');
    if (isRemotelyReachable(address) && !config.allowRemoteCallers)
      refuse(
        '--listen',
        `${text} can be reached from other machines; set BEARERD_ALLOW_REMOTE_CALLERS=true to let everybody call`,
      );
    // bearerd also accepts the address that a connection arrived at. Behind HAProxy that is not the client's.
    if (!isOwnHost(text, config))
      refuse(
        '--listen',
        `clients would send the Host ${address.host}, which bearerd refuses; put it into allowedHosts, or use localhost`,
      );
  }
}

/** bearerd's address for HAProxy. */
export function slowLane({ listen }: Config): string | undefined {
  const found = listen.find((address) => address.kind === 'tcp' && address.port !== 0);
  if (found?.kind !== 'tcp') return undefined;
  const [host = ''] = boundHosts(found.host);
  const anywhere = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host];
  return formatAddress({ ...found, host: anywhere ?? host });
}
