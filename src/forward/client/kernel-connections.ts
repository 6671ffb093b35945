import { readFile } from 'node:fs/promises';
import { type Socket, SocketAddress } from 'node:net';
import { endianness } from 'node:os';

/** Linux' tables of TCP connections; elsewhere they are not there. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/**
 * `12: 0100007F:23DC 0100007F:D1B0 08 …`: this end, the other end, the state. We have got the other's FIN (8,
 * CLOSE_WAIT); or this line is the client's own, on the same machine, and its FIN is on the way (4 and 5, FIN_WAIT).
 * The latter is all there is to see where its last bytes don't fit into what we have room for.
 */
const ENDED = /: ([\dA-F]+):([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) 0([458]) /g;
const CLOSE_WAIT = '8';

/** The names of connections whose other end has said that it is done. Empty where the system doesn't tell. */
export async function endedConnections(): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const [, address, port, otherAddress, otherPort, state] of text.matchAll(ENDED)) {
      const here = `${addressText(address!)} ${Number.parseInt(port!, 16)}`;
      const there = `${addressText(otherAddress!)} ${Number.parseInt(otherPort!, 16)}`;
      ended.add(state === CLOSE_WAIT ? `${here} ${there}` : `${there} ${here}`);
    }
  }
  return ended;
}

/** A connection as `endedConnections` names it: our end, and the client's. */
export function connectionName({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${plain(localAddress!)} ${localPort} ${plain(remoteAddress!)} ${remotePort}`;
}

/** The kernel writes an address as words of 32 bits, each in the machine's own byte order. */
function addressText(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g)!.join(':');
  return plain(new SocketAddress({ address: groups, family: 'ipv6' }).address);
}

/** Without the prefix of an IPv4 address on an IPv6 socket, and without a zone. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');
}
