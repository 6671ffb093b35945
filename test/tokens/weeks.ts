import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { HOUR, MINUTE, S, World } from './world.ts';

const WEEK = 7 * 24 * HOUR;
/** The longest recovery after the end of a failure: one backoff, one login, and the floor between two logins. */
const BACKOFF = 60 * S;
const REFUSED_BACKOFF = 300 * S;
const LOGIN = 10 * S;
/** The loop checks the wall clock this often, and notices then that it was set. */
const LOOK = 31 * S;

type Episode = (world: World) => Promise<void>;

/** A second event during a failure. */
async function disturb(world: World): Promise<void> {
  await world.traffic(LOOK);
  const what = world.pick('sleep', 'set the clock', 'revoke', 'nothing');
  if (what === 'sleep') await world.suspend(world.between(S, 2 * HOUR));
  if (what === 'set the clock') await world.setClock(world.between(-HOUR, HOUR));
  if (what === 'revoke') world.revokeAll();
  await world.traffic(LOOK);
}

const outage: Episode = async (world) => {
  world.mood = world.pick('down', 'failing', 'busy', 'garbage');
  await world.traffic(world.between(5 * S, 40 * MINUTE));
  if (world.random() < 0.5) await disturb(world);
  world.mood = 'well';
  await world.expectRecovery(BACKOFF + LOGIN, 'the outage');
};

const slowness: Episode = async (world) => {
  world.mood = 'slow';
  await world.traffic(world.between(MINUTE, 30 * MINUTE));
  world.mood = 'well';
  await world.expectRecovery(BACKOFF + LOGIN, 'the slowness');
};

const refusal: Episode = async (world) => {
  world.mood = 'refusing';
  await world.traffic(world.between(10 * MINUTE, 5 * HOUR));
  if (world.random() < 0.5) await disturb(world);
  world.mood = 'well';
  if (world.random() < 0.5) return world.expectRecovery(REFUSED_BACKOFF + LOGIN, 'the refusal');
  world.rotate();
  await world.expectRecovery(S + LOGIN, 'new credentials');
};

const revocation: Episode = async (world) => {
  world.revokeAll();
  // There is one forced renewal in 10 s, and the check may be the second request with a 401.
  await world.expectRecovery(10 * S + S + LOGIN, 'the revocation');
};

const rotation: Episode = async (world) => {
  world.rotate();
  if (world.random() < 0.5) {
    await world.traffic(world.between(0, 2 * S));
    world.rotate();
  }
  await world.expectRecovery(S + LOGIN, 'the rotation');
};

const suspension: Episode = async (world) => {
  await world.suspend(world.between(S, world.pick(MINUTE, HOUR, 12 * HOUR)));
  await world.expectRecovery(S + LOGIN, 'the suspension');
};

const clockStep: Episode = async (world) => {
  const step = world.pick(HOUR, -HOUR, world.between(-10 * MINUTE, 10 * MINUTE), 10 * 365 * 24 * HOUR);
  await world.setClock(step);
  await world.expectRecovery(S + LOGIN, 'the setting of the clock');
  if (world.random() < 0.5) return;
  await world.setClock(-step);
  await world.expectRecovery(S + LOGIN, 'the correction of the clock');
};

const EPISODES = [outage, outage, slowness, refusal, revocation, rotation, suspension, clockStep];

/** The length of a simulation, and the longest quiet time in it. */
const PACES = {
  'of weeks': { lengthMs: WEEK, longestQuietMs: 3 * HOUR },
  'of years': { lengthMs: 365.25 * 24 * HOUR, longestQuietMs: 5 * 24 * HOUR },
};
export type Pace = keyof typeof PACES;

export async function live(seed: number, pace: Pace): Promise<World> {
  const { lengthMs, longestQuietMs } = PACES[pace];
  const world = new World(seed, pace);
  await world.expectRecovery(LOGIN, 'the start');
  while (world.nowMs < lengthMs) {
    await world.traffic(world.between(LOOK, world.pick(10 * MINUTE, longestQuietMs)));
    await world.pick(...EPISODES)(world);
  }
  await world.end();
  return world;
}

/** The most refused logins within any hour. */
function mostInAnHour(times: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [i, at] of times.entries()) {
    while (at - times[from]! >= HOUR) from++;
    most = Math.max(most, i - from + 1);
  }
  return most;
}

/** The results of several simulations. */
export interface Lives {
  readonly requests: number;
  readonly logins: number;
  /** Each with its seed. */
  readonly faults: readonly string[];
}

/** The faults that the world saw, and those in the times of its logins. */
function faultsOf(world: World): readonly string[] {
  const faults = [...world.faults];
  const times = world.logins.map(({ atMs }) => atMs);
  let shortest = Number.POSITIVE_INFINITY;
  for (let n = 1; n < times.length; n++) shortest = Math.min(shortest, times[n]! - times[n - 1]!);
  if (shortest < S) faults.push(`two logins within ${shortest} ms`);
  const refused = world.logins.filter(({ mood }) => mood === 'refusing').map(({ atMs }) => atMs);
  const most = mostInAnHour(refused);
  if (most > 20) faults.push(`${most} logins in an hour of refusal`);
  return faults;
}

export async function liveThrough(firstSeed: number, count: number, pace: Pace): Promise<Lives> {
  const faults: string[] = [];
  let requests = 0;
  let logins = 0;
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const world = await live(seed, pace);
    faults.push(
      ...faultsOf(world)
        .slice(0, 5)
        .map((fault) => `seed ${seed}, ${pace}: ${fault}`),
    );
    requests += world.requests;
    logins += world.logins.length;
  }
  return { requests, logins, faults };
}

if (!isMainThread) {
  // There are a hundred thousand failures, and their stacks are not used.
  Error.stackTraceLimit = 0;
  const { firstSeed, count, pace } = workerData;
  parentPort?.postMessage(await liveThrough(firstSeed, count, pace));
}
