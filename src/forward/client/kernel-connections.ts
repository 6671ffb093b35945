import { readFile } from 'node:fs/promises';
import { type Socket, SocketAddress } from 'node:net';
import { endianness } from 'node:os';

/** Linux' tables of TCP connections; other systems have none. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/**
 * `12: 0100007F:23DC 0100007F:D1B0 08 …`: local end, remote end, state. State 8 (CLOSE_WAIT): we have received the client's
 * FIN. States 4 and 5 (FIN_WAIT) are found if the client is on this machine, and the line is its end of the connection:
 * it has sent its FIN. Only that line tells of a FIN that waits after bytes for which our receive buffer has no room.
 */
const ENDED = /: ([\dA-F]+):([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) 0([458]) /g;
const CLOSE_WAIT = '8';

/** The connections whose client has ended its side, as `connectionName` names them. Empty except on Linux. */
export async function endedConnections(): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const [, address = '', port = '', otherAddress = '', otherPort = '', state] of text.matchAll(
      ENDED,
    )) {
      const here = `${addressText(address)} ${Number.parseInt(port, 16)}`;
      const there = `${addressText(otherAddress)} ${Number.parseInt(otherPort, 16)}`;
      ended.add(state === CLOSE_WAIT ? `${here} ${there}` : `${there} ${here}`);
    }
  }
  return ended;
}

/** Our end of a connection, and the client's end. */
export function connectionName({
  localAddress = '',
  localPort,
  remoteAddress = '',
  remotePort,
}: Socket): string {
  return `${plain(localAddress)} ${localPort} ${plain(remoteAddress)} ${remotePort}`;
}

/** The kernel prints an address as words of 32 bits, each in the machine's byte order. */
function addressText(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').replace(/.{4}(?!$)/g, '$&:');
  return plain(new SocketAddress({ address: groups, family: 'ipv6' }).address);
}

/** An address without its zone, and without the IPv6 prefix of an IPv4 address. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');
}
