import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Event } from '../../src/base/events.ts';
import { releaseAtRest } from '../../src/cli/at-rest.ts';
import { until } from '../support/raw-client.ts';

const MEGABYTE = 1024 ** 2;
const REQUEST = { type: 'request' } as Event;

function resting() {
  const state = { inFlight: 0, resident: 80 * MEGABYTE, released: 0, looks: 0 };
  const tell = releaseAtRest({
    inFlight: () => {
      state.looks++;
      return state.inFlight;
    },
    residentBytes: () => state.resident,
    release: () => {
      state.released++;
      state.resident = 90 * MEGABYTE;
    },
    restMs: 10,
  });
  return { state, tell };
}

t.test(
  'memory that a burst of requests took goes back to the system once no request is under way',
  async (t) => {
    const { state, tell } = resting();
    state.inFlight = 1;
    tell(REQUEST);
    state.resident = 200 * MEGABYTE;
    await until(() => state.looks > 3, 'the memory is never checked');
    t.equal(state.released, 0, 'nothing is released while a request is under way');
    state.inFlight = 0;
    await until(() => state.released === 1, 'no memory is released');
    const { looks } = state;
    await sleep(50);
    t.same([state.released, state.looks], [1, looks], 'the checks end after the release');
  },
);

t.test('memory that requests took before the first of them ended goes back to the system', async (t) => {
  const { state, tell } = resting();
  state.resident = 200 * MEGABYTE;
  tell(REQUEST);
  await until(() => state.released === 1, 'no memory is released');
  t.equal(state.released, 1);
});

t.test('a first request that takes little memory releases none', async (t) => {
  const { state, tell } = resting();
  tell({ type: 'login-succeeded' } as Event);
  state.resident += MEGABYTE;
  tell(REQUEST);
  await until(() => state.looks > 0, 'the memory is never checked');
  t.same([state.released, state.looks], [0, 1]);
});

t.test('a small growth releases nothing, and memory that stays in use is not asked for again', async (t) => {
  const { state, tell } = resting();
  tell(REQUEST);
  await until(() => state.released === 1, 'the first rest releases no memory');
  tell(REQUEST);
  state.resident += MEGABYTE;
  await until(() => state.looks > 1, 'the memory is not checked again');
  await sleep(50);
  t.same([state.released, state.looks], [1, 2]);
  tell(REQUEST);
  state.resident += 8 * MEGABYTE;
  await until(() => state.released === 2, 'memory that grew in small steps is not released');
  t.equal(state.released, 2);
});

t.test('memory that shrinks a moment after the release is the new base for growth', async (t) => {
  const { state, tell } = resting();
  tell(REQUEST);
  await until(() => state.released === 1, 'the first rest releases no memory');
  state.resident = 60 * MEGABYTE;
  tell(REQUEST);
  state.resident = 70 * MEGABYTE;
  await until(() => state.released === 2, 'the growth since then is not released');
  t.equal(state.released, 2);
});

t.test('requests in a row delay the release, and other events do not start a check', async (t) => {
  const { state, tell } = resting();
  tell({ type: 'internal-error' } as Event);
  await sleep(30);
  t.equal(state.looks, 0);
  for (let n = 0; n < 50; n++) tell(REQUEST);
  state.resident += 100 * MEGABYTE;
  await until(() => state.released === 1, 'no memory is released');
  t.equal(state.looks, 2, 'the first check found traffic');
});
