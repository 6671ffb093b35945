import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import t from 'tap';
import type { ForwardContext } from '../../src/forward/forwardable.ts';
import { Tunnel } from '../../src/forward/tunnel.ts';
import { FakeClock } from '../support/fake-clock.ts';

const IDLE_MS = 10_000;

/** One end of a tunnel. It takes what is written to it when `take` is called. */
function side() {
  let take = () => {};
  const stream = new Duplex({
    highWaterMark: 4,
    read: () => {},
    write: (_piece, _encoding, taken) => {
      take = taken;
    },
  });
  return { stream, take: () => take() };
}

t.test('a side that takes again what it had held up begins the idle limit anew', async (t) => {
  for (const up of [true, false]) {
    const clock = new FakeClock();
    const client = side();
    const upstream = side();
    const context = { clock, bytesPassed: () => {} } as unknown as ForwardContext;
    const limits = { idleMs: IDLE_MS, expires: undefined };
    const [from, to] = up ? [client, upstream] : [upstream, client];
    const tunnel = new Tunnel(
      context,
      client.stream as unknown as Socket,
      upstream.stream as unknown as Socket,
      limits,
    );
    tunnel.open();
    from.stream.push('12345');
    await clock.advance(0);
    t.ok(to.stream.writableNeedDrain, 'it is held up');
    await clock.advance(9_000);
    to.take();
    await clock.advance(0);
    t.equal(tunnel.deadlineMonoMs, clock.monoMs() + IDLE_MS);
  }
});
