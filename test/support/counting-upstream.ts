import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { ByteReader, readBody, readHead } from './http-message.ts';
import { grant, ok, SESSION_PATH } from './raw-upstream.ts';

export const CA_FILE = fileURLToPath(new URL('tls/ca.pem', import.meta.url));

/** Counts what a proxy makes of requests on the way up; without those of logins. */
export interface CountingUpstream {
  readonly url: string;
  readonly counts: { connections: number; requests: number; pieces: number };
}

/** Answers every request with the same bytes. @param secure over TLS 1.3, where a connection is a handshake, too */
export async function countingUpstream(t: Test, answer: Buffer, secure = false): Promise<CountingUpstream> {
  const counts = { connections: 0, requests: 0, pieces: 0 };
  const sockets = new Set<Socket>();
  const converse = async (socket: Socket) => {
    sockets.add(socket);
    counts.connections++;
    const reader = new ByteReader();
    socket.on('data', (chunk: Buffer) => {
      counts.pieces++;
      reader.push(chunk);
    });
    socket.on('error', () => {}).on('close', () => reader.end());
    for (;;) {
      const head = await readHead(reader);
      if (head === undefined) return;
      await readBody(reader, head, 'none');
      counts.requests++;
      socket.write(head.startLine.includes(SESSION_PATH) ? grant('tok-1') : answer);
    }
  };
  const server = secure ? secureServer(converse) : createServer({ noDelay: true }, converse);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http${secure ? 's' : ''}://127.0.0.1:${port}`, counts };
}

function secureServer(converse: (socket: Socket) => void): Server {
  const file = (name: string) => readFileSync(new URL(`tls/${name}`, import.meta.url));
  return tls.createServer(
    { cert: file('server.pem'), key: file('server.key'), minVersion: 'TLSv1.3' },
    converse,
  );
}

export const SMALL_ANSWER: Buffer = ok('x'.repeat(300), 'content-type: application/json');
