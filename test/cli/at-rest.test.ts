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

t.test('memory that a burst took is given back once no request is under way', async (t) => {
  const { state, tell } = resting();
  state.inFlight = 1;
  tell(REQUEST);
  state.resident = 200 * MEGABYTE;
  await until(() => state.looks > 3, 'it does not look');
  t.equal(state.released, 0, 'not while a request would wait for it');
  state.inFlight = 0;
  await until(() => state.released === 1, 'nothing is given back');
  const { looks } = state;
  await sleep(50);
  t.same([state.released, state.looks], [1, looks], 'and it rests');
});

t.test('memory that requests took before the first of them ended is given back', async (t) => {
  const { state, tell } = resting();
  state.resident = 200 * MEGABYTE;
  tell(REQUEST);
  await until(() => state.released === 1, 'nothing is given back');
  t.equal(state.released, 1);
});

t.test('a first request that takes little is no reason to give anything back', async (t) => {
  const { state, tell } = resting();
  tell({ type: 'login-succeeded' } as Event);
  state.resident += MEGABYTE;
  tell(REQUEST);
  await until(() => state.looks > 0, 'it does not look');
  t.same([state.released, state.looks], [0, 1]);
});

t.test('a little more memory is not worth the pause, and what stays is not asked for again', async (t) => {
  const { state, tell } = resting();
  tell(REQUEST);
  await until(() => state.released === 1, 'the first rest gives nothing back');
  tell(REQUEST);
  state.resident += MEGABYTE;
  await until(() => state.looks > 1, 'it does not look');
  await sleep(50);
  t.same([state.released, state.looks], [1, 2]);
  tell(REQUEST);
  state.resident += 8 * MEGABYTE;
  await until(() => state.released === 2, 'what grew bit by bit is not given back');
  t.equal(state.released, 2);
});

t.test('what is given back a moment after the rest counts as given back', async (t) => {
  const { state, tell } = resting();
  tell(REQUEST);
  await until(() => state.released === 1, 'the first rest gives nothing back');
  state.resident = 60 * MEGABYTE;
  tell(REQUEST);
  state.resident = 70 * MEGABYTE;
  await until(() => state.released === 2, 'what grew since then is not given back');
  t.equal(state.released, 2);
});

t.test('many requests are no rest, and other events no traffic', async (t) => {
  const { state, tell } = resting();
  tell({ type: 'internal-error' } as Event);
  await sleep(30);
  t.equal(state.looks, 0);
  for (let n = 0; n < 50; n++) tell(REQUEST);
  state.resident += 100 * MEGABYTE;
  await until(() => state.released === 1, 'nothing is given back');
  t.equal(state.looks, 2, 'the first look found traffic');
});
