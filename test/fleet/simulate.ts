import { RedisServer } from '../support/redis.ts';
import { Fleet } from './fleet.ts';
import { Issuer } from './issuer.ts';
import { LeakWatch } from './leak-watch.ts';
import { clockOf, paceOf, simulatedMs } from './pace.ts';
import { beAway, keepSpoiling } from './trouble.ts';
import { AFTER_MS, BEFORE_MS, BEGIN_MS, type Plan, type World } from './world.ts';

const HOUR_MS = 3_600_000;
const DENIED_S = 60;

/** Runs a fleet for the planned time, with an engine that often fails. */
export async function simulate(plan: Plan) {
  const redis = new RedisServer();
  await redis.start();
  const untilMs = plan.hours * HOUR_MS;
  const events = eventsOf(plan, untilMs);
  const slow = [[0, BEGIN_MS] as const, ...events.map((at) => [at - BEFORE_MS, at + AFTER_MS] as const)];
  const pace = paceOf(Date.now() + 2_000, plan.rate, untilMs, slow);
  const issuer = new Issuer(pace);
  await issuer.start();
  const fleet = new Fleet(plan.processes, {
    pace,
    socket: redis.socket,
    issuer: issuer.url,
    simulated: plan.simulated / plan.processes,
    real: plan.real / plan.processes,
    spreadMs: BEGIN_MS / 2,
  });
  const leaks = new LeakWatch(redis);
  try {
    await leaks.listen();
    const world = { plan, pace, clock: clockOf(pace), redis, issuer, fleet, leaks, events };
    const trouble = plan.awayMs > 0 ? beAway(world) : keepSpoiling(world);
    const [faults, measured] = await Promise.all([trouble, live(world)]);
    await world.clock.sleep(untilMs - simulatedMs(pace));
    const { tokens, ...counts } = await fleet.end();
    await leaks.scanFiles();
    return { ...figures(issuer, tokens), ...measured, faults, ...counts, ...leaksIn(leaks) };
  } finally {
    fleet.kill();
    leaks.stop();
    issuer.close();
    await redis.remove();
  }
}

function eventsOf({ eventEveryMs }: Plan, untilMs: number): number[] {
  const times = [];
  for (let at = eventEveryMs; at < untilMs - 2 * BEGIN_MS; at += eventEveryMs) times.push(at);
  return times;
}

async function live(world: World) {
  const retiredWithinMs: number[] = [];
  const loginsWhileHeldBack: number[] = [];
  for (const [index, at] of world.events.entries()) {
    await world.clock.sleep(at - simulatedMs(world.pace));
    if (index % 2 === 0) retiredWithinMs.push(await revoke(world));
    else loginsWhileHeldBack.push(await deny(world));
  }
  return { retiredWithinMs, loginsWhileHeldBack };
}

/** Revokes the token. One instance notices it by a request; the others must learn of it through the engine. */
async function revoke({ issuer, fleet }: World): Promise<number> {
  const upTo = issuer.grantedAt.length;
  issuer.revokedUpTo = upTo;
  const watch = fleet.watch(upTo);
  fleet.tell({ do: 'revoked', upTo }, false);
  fleet.tell({ do: 'call' }, false);
  const tookMs = await watch;
  fleet.tell({ do: 'revoked', upTo });
  return Math.round(tookMs);
}

/** One instance gets a 429; a second later all are asked to log in. @returns how many logins follow */
async function deny({ clock, issuer, fleet }: World): Promise<number> {
  issuer.denyForS = DENIED_S;
  fleet.tell({ do: 'login', all: false }, false);
  await clock.sleep(1_000);
  const before = issuer.grantedAt.length + issuer.deniedAt.length;
  fleet.tell({ do: 'login', all: true });
  await clock.sleep(5_000);
  return issuer.grantedAt.length + issuer.deniedAt.length - before;
}

function figures({ grantedAt, deniedAt, disobeyed }: Issuer, tokens: readonly number[]) {
  const renewals = tokens.reduce((a, b) => a + b, 0) / tokens.length;
  return {
    instances: tokens.length,
    logins: grantedAt.length,
    denied: deniedAt.length,
    disobeyed,
    /** Tokens of an instance, on average. */
    tokensOfEach: Math.round(renewals * 100) / 100,
    fewest: Math.min(...tokens),
    mostInASecond: mostWithin(1_000, [...grantedAt, ...deniedAt]),
  };
}

function leaksIn({ found, bytes }: LeakWatch) {
  return { leaks: [...found], monitoredMB: Math.round(bytes / 1e5) / 10 };
}

function mostWithin(ms: number, times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(0, ...sorted.map((from) => sorted.filter((at) => at >= from && at < from + ms).length));
}
