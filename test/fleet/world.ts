import type { Clock } from '../../src/base/clock.ts';
import type { RedisServer } from '../support/redis.ts';
import type { Fleet } from './fleet.ts';
import type { Issuer } from './issuer.ts';
import type { LeakWatch } from './leak-watch.ts';
import type { Pace } from './pace.ts';

/** Within which all instances begin; time goes as it does. */
export const BEGIN_MS = 10_000;
/** Around what is timed, time goes as it does: from before it until it is over. */
export const BEFORE_MS = 8_000;
export const AFTER_MS = 8_000;

export interface Plan {
  readonly processes: number;
  readonly simulated: number;
  readonly real: number;
  /** How much faster than time itself it goes. */
  readonly rate: number;
  readonly hours: number;
  readonly faultEveryMs: number;
  /** In place of faults, the engine is away once for so long; 0 for faults. */
  readonly awayMs: number;
  /** By turns, a token is revoked or a login is told to wait. */
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
