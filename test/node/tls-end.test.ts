import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { onBareEnd } from '../../src/node/tls-end.ts';
import { readTls } from '../support/h2-upstream.ts';
import { happens } from '../support/raw-client.ts';

// Node emits the same event for a close_notify and for the bare end of the TCP connection.

async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A TLS connection through a relay, which may end TCP towards the client after `length` bytes. */
async function readThrough(t: Test, { length, bare, slow, maxVersion }: EndCase) {
  const server = tls.createServer(
    { cert: readTls('server.pem'), key: readTls('server.key'), maxVersion },
    (peer) => {
      peer.on('error', () => {});
      // With TLS 1.3, a server on Node 24 sends no close_notify while its 'secureConnection' event runs.
      setImmediate(() => {
        if (bare) peer.write(Buffer.alloc(length));
        else peer.end(Buffer.alloc(length));
      });
    },
  );
  const port = await listening(t, server);
  let endBare = () => {};
  const relay = createServer((client) => {
    const onward = connect(port, '127.0.0.1');
    client
      .on('error', () => {})
      .pipe(onward)
      .on('error', () => {});
    onward.pipe(client);
    t.teardown(() => onward.destroy());
    endBare = () => client.end();
  });
  const raw = connect(await listening(t, relay), '127.0.0.1');
  await happens(raw, 'connect');
  const secure = tls.connect({
    socket: raw,
    ca: readTls('ca.pem'),
    host: 'localhost',
    servername: 'localhost',
  });
  t.teardown(() => secure.destroy());
  let reported = 0;
  let read = 0;
  onBareEnd(secure, raw, () => reported++);
  secure.on('data', (piece: Buffer) => {
    read += piece.length;
    if (bare && read === length) endBare();
    if (!slow) return;
    secure.pause();
    setTimeout(() => secure.resume(), 20);
  });
  await happens(secure, 'end');
  return { reported, read };
}

interface EndCase {
  readonly length: number;
  readonly bare: boolean;
  readonly slow: boolean;
  readonly maxVersion: 'TLSv1.2' | 'TLSv1.3';
}

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  for (const length of [1, 100_000]) {
    for (const slow of [false, true]) {
      for (const bare of [false, true]) {
        const what = `${length} bytes by ${maxVersion}, read ${slow ? 'slowly' : 'at once'}`;
        t.test(
          `the ${bare ? 'bare end of TCP is' : 'end of TLS is not'} reported as bare: ${what}`,
          async (t) => {
            t.same(await readThrough(t, { length, bare, slow, maxVersion }), {
              reported: bare ? 1 : 0,
              read: length,
            });
          },
        );
      }
    }
  }
}
