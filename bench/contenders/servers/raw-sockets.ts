import { connect, createServer, type Socket } from 'node:net';
import { TOKEN } from '../../fixtures.ts';

// A proxy of sockets that knows no HTTP but the end of the request line: two reads and two writes in Node, and
// nothing else. It takes each piece for a request, which holds for small ones. Arguments: port, upstream.
const upstream = new URL(process.argv[3]!);
const CREDENTIAL = `\r\nAuthorization: Bearer ${TOKEN}`;

createServer({ noDelay: true }, (client: Socket) => {
  const server = connect({ host: upstream.hostname, port: Number(upstream.port), noDelay: true });
  client.on('data', (piece: Buffer) => {
    const text = piece.toString('latin1');
    const end = text.indexOf('\r\n');
    server.write(text.slice(0, end) + CREDENTIAL + text.slice(end), 'latin1');
  });
  server.on('data', (piece: Buffer) => client.write(piece));
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => {}).on('close', () => other.destroy());
  }
}).listen(Number(process.argv[2]), '127.0.0.1');
