import { BlockList, isIP } from 'node:net';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/values/addresses.ts';

/**
 * The outbound proxy for an origin. Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY as curl and Go do; undefined for a direct
 * connection. A connection to a loopback host never uses a proxy.
 */
export function outboundProxyFor(origin: string, proxies: Config['outboundProxy']): URL | undefined {
  const target = new URL(origin);
  const host = bare(target.hostname);
  const raw = target.protocol === 'https:' ? proxies.httpsProxy : proxies.httpProxy;
  if (raw === undefined || isLoopbackHost(host) || isExempt(host, target, proxies.noProxy)) return undefined;
  return new URL(raw.expose()); // Valid: the configuration reader has checked it, and added a scheme if it had none.
}

/** NO_PROXY: `*`, names (with their subdomains), addresses, networks (`10.0.0.0/8`). All but networks may have a port. */
function isExempt(host: string, target: URL, noProxy: string): boolean {
  const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port;
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
