import { connect } from 'node:http2';
import t, { type Test } from 'tap';
import { SmallFrames } from '../../src/node/small-frames.ts';
import { END_STREAM, FrameUpstream, TYPE } from '../support/h2-frames.ts';
import { readTls } from '../support/h2-upstream.ts';
import { leastBytes, usedBytes } from '../support/memory.ts';
import { randomFrom } from '../support/random.ts';
import { happens, until } from '../support/raw-client.ts';

// DATA frames of one byte. Node makes an object and an event for each.

async function asking(t: Test) {
  const upstream = await FrameUpstream.startedFor(t);
  const session = connect(upstream.url, {
    ca: readTls('ca.pem'),
    settings: { initialWindowSize: 1024 ** 2 },
  });
  t.teardown(() => session.destroy());
  session.on('connect', () => session.setLocalWindowSize(16 * 1024 ** 2));
  await happens(session, 'remoteSettings');
  const ask = () => {
    const stream = session.request({ ':path': '/' });
    const frames = new SmallFrames(stream);
    t.teardown(() => stream.on('error', () => {}).destroy());
    return { stream, frames };
  };
  return { upstream, ask };
}

t.test('tiny frames that nothing reads take about as much memory as they have bytes', async (t) => {
  const { upstream, ask } = await asking(t);
  const before = await usedBytes();
  upstream.onRequest = (connection, id) =>
    connection
      .headers(id, [[':status', '200']])
      .tinyData(id, 'x'.repeat(300_000))
      .send(TYPE.ping, 0, 0, Buffer.alloc(8));
  const { stream, frames } = ask();
  stream.pause();
  // When the PING behind them is answered, all frames have come.
  await until(
    () => upstream.connections[0]!.frames.some(({ type, flags }) => type === TYPE.ping && flags === 1),
    'no PING',
  );
  const used = ((await leastBytes(before + 8 * 1024 ** 2)) - before) / 1024 ** 2;
  t.ok(used < 8, `${Math.round(used)} MiB`);
  let bytes = 0;
  let pieces = 0;
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
    pieces++;
  });
  frames.flush();
  stream.resume();
  await until(() => bytes === 300_000, 'bytes are missing');
  t.ok(pieces < 3_000, `${pieces} pieces`);
});

t.test(
  'a body in frames of all sizes is complete and in order, however often its reader pauses',
  async (t) => {
    const { upstream, ask } = await asking(t);
    const random = randomFrom(11);
    const parts = Array.from({ length: 2_000 }, (_, n) =>
      String.fromCharCode(97 + (n % 26)).repeat(1 + Math.floor(random() * [2, 30, 600, 6_000][n % 4]!)),
    );
    const body = parts.join('').slice(0, 900_000);
    upstream.onRequest = async (connection, id) => {
      connection.headers(id, [[':status', '200']]);
      let at = 0;
      for (const [n, part] of parts.entries()) {
        const rest = body.slice(at, at + part.length);
        if (rest !== '') connection.data(id, rest);
        at += part.length;
        if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      connection.data(id, '', END_STREAM);
    };
    const { stream, frames } = ask();
    let got = '';
    stream.on('data', (piece: Buffer) => {
      got += piece.toString('latin1');
      if (random() < 0.2) {
        stream.pause();
        setTimeout(() => {
          frames.flush();
          stream.resume();
        }, 1);
      }
    });
    await happens(stream, 'end');
    t.ok(got === body);
  },
);
