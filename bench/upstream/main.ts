import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { Conversation } from './conversation.ts';

/** What every contender forwards to, plain and over TLS 1.3, as a process of its own; its parent asks it for counts. */
const counts = { connections: 0, handshakes: 0, requests: 0 };
const tlsFile = (name: string) => readFileSync(new URL(`../../test/support/tls/${name}`, import.meta.url));

function converse(socket: Socket): void {
  socket.setNoDelay(true);
  new Conversation(socket, () => counts.requests++);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) =>
    server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, resolve),
  );
  return (server.address() as AddressInfo).port;
}

const plain = createServer((socket) => {
  counts.connections++;
  converse(socket);
});
const secure = tls.createServer(
  { cert: tlsFile('server.pem'), key: tlsFile('server.key'), minVersion: 'TLSv1.3' },
  (socket) => {
    counts.handshakes++;
    converse(socket);
  },
);
secure.on('tlsClientError', () => {});

process.on('message', () => process.send!(counts));
process.on('disconnect', () => process.exit());
process.send!({ port: await listen(plain), tlsPort: await listen(secure) });
