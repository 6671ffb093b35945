import type { Clock } from '../../src/base/clock.ts';
import type { RedisServer } from '../support/redis.ts';
import type { Fleet } from './fleet.ts';
import type { Issuer } from './issuer.ts';
import type { LeakWatch } from './leak-watch.ts';
import type { Pace } from './pace.ts';

/** All instances start within this time, which goes at real speed. */
export const BEGIN_MS = 10_000;
/** From this long before an event until this long after it, time goes at real speed. */
export const BEFORE_MS = 8_000;
export const AFTER_MS = 8_000;

export interface Plan {
  readonly processes: number;
  readonly simulated: number;
  readonly real: number;
  /** Simulated time goes this many times faster than real time. */
  readonly rate: number;
  readonly hours: number;
  readonly faultEveryMs: number;
  /** If not 0, the engine is stopped once for this long, and there are no other faults. */
  readonly awayMs: number;
  /** An event revokes the token or gives a login a 429, in turn. */
  readonly eventEveryMs: number;
}

export interface World {
  readonly plan: Plan;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly redis: RedisServer;
  readonly issuer: Issuer;
  readonly fleet: Fleet;
  readonly leaks: LeakWatch;
  readonly events: readonly number[];
}
