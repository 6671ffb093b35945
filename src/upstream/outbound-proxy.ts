import { BlockList, isIP } from 'node:net';
import type { Config } from '../config/config.ts';
import { formatUpstreamAddress, isLoopbackHost, type UpstreamAddress } from '../config/values/addresses.ts';

/** How an origin is reached: through an outbound proxy, or directly, and then why. */
export type OutboundWay =
  | { readonly proxy: URL }
  | {
      readonly proxy: undefined;
      /** In words, for the operator. */
      readonly why: string;
    };

/**
 * How connections reach an origin. Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY as curl and Go do. A connection to a
 * loopback host never uses a proxy.
 *
 * @param address where connections go in place of the origin's host: loopback and NO_PROXY are checked for it as well
 */
export function outboundWay(
  origin: string,
  proxies: Config['outboundProxy'],
  address?: UpstreamAddress,
): OutboundWay {
  const way = wayTo(new URL(origin), proxies);
  if (way.proxy === undefined || address === undefined) return way;
  const target = new URL(origin);
  const { host, port = portOf(target) } = address;
  return wayTo(new URL(`${target.protocol}//${formatUpstreamAddress({ host, port })}`), proxies);
}

function wayTo(target: URL, { httpsProxy, httpProxy, noProxy }: Config['outboundProxy']): OutboundWay {
  const host = bare(target.hostname);
  const [variable, raw] =
    target.protocol === 'https:' ? ['HTTPS_PROXY', httpsProxy] : ['HTTP_PROXY', httpProxy];
  if (isLoopbackHost(host)) return directly('a loopback host is called directly');
  if (raw === undefined) return directly(`${variable} is not set`);
  if (isExempt(host, target, noProxy)) return directly('NO_PROXY exempts it');
  // Valid: the configuration reader has checked it, and added a scheme if it had none.
  return { proxy: new URL(raw.expose()) };
}

function directly(why: string): OutboundWay {
  return { proxy: undefined, why };
}

/** The port that a URL means. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** NO_PROXY: `*`, names (with their subdomains), addresses, networks (`10.0.0.0/8`). All but networks may have a port. */
function isExempt(host: string, target: URL, noProxy: string): boolean {
  const port = `${portOf(target)}`;
  return noProxy
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return inNetwork(host, entry);
      const withPort = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry);
      if (withPort !== null && withPort[2] !== port) return false;
      const name = bare((withPort?.[1] ?? entry).replace(/^\*?\./, ''));
      return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
    });
}

function inNetwork(host: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(bits)) return false;
  try {
    const list = new BlockList();
    const name = family === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits), name);
    return list.check(host, name);
  } catch {
    return false; // The prefix is too long for the address family.
  }
}

/** Without brackets and final dot (which only says that the name is fully qualified), in lower case. */
function bare(host: string): string {
  return host.replace(/^\[|\]$|\.$/g, '').toLowerCase();
}
