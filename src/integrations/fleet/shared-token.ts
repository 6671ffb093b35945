import type { Clock } from '../../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../../base/deadline.ts';
import { Secret } from '../../base/secret.ts';
import type { Kept } from './engine.ts';
import type { AccountKeys } from './keys.ts';

/** A token that instances share. */
export interface SharedToken {
  readonly token: Secret;
  /** Each login's is higher than all that were seen before it. */
  readonly generation: number;
  /** What it is retired by. */
  readonly mark: string;
  readonly expires: Deadline;
  /** From its login to its end. */
  readonly lifetimeMs: number;
}

/** A token that ends sooner is not worth the change. */
const LEAST_USE_MS = 1_000;

export function sealToken(
  { token, generation, expires, lifetimeMs }: SharedToken,
  keys: AccountKeys,
): string {
  const value = {
    token,
    expiresAtMs: Math.floor(expires.wallMs),
    lifetimeMs: Math.floor(lifetimeMs),
  };
  return keys.seal(keys.names.token, generation, value);
}

/** The token in what the engine holds; it may be over. */
export function openToken(kept: Kept, keys: AccountKeys, clock: Clock): SharedToken | undefined {
  const opened = keys.open(keys.names.token, kept.text);
  if (opened === undefined) return undefined;
  // Sealed by one of us: it has this shape.
  const { token, expiresAtMs, lifetimeMs } = opened.value as {
    token: string;
    expiresAtMs: number;
    lifetimeMs: number;
  };
  const secret = new Secret(token);
  const expires = endOf(kept, expiresAtMs, clock);
  return { token: secret, generation: opened.generation, mark: keys.markOf(secret), expires, lifetimeMs };
}

/**
 * The sooner of two: the engine's time to live, which needs no common clock, and the sealed end, which an engine
 * can't put off.
 */
export function endOf({ ttlMs }: Kept, sealedWallMs: number, clock: Clock): Deadline {
  const sealedMs = sealedWallMs - clock.wallMs();
  return deadlineIn(ttlMs < 0 ? sealedMs : Math.min(ttlMs, sealedMs), clock);
}

/** Whether the second is worth having in place of the first. */
export function isFresher(mine: SharedToken | undefined, other: SharedToken, clock: Clock): boolean {
  const otherMs = untilMs(other.expires, clock);
  if (otherMs <= LEAST_USE_MS || other.mark === mine?.mark) return false;
  if (mine === undefined) return true;
  if (other.generation !== mine.generation) return other.generation > mine.generation;
  return otherMs > untilMs(mine.expires, clock) + LEAST_USE_MS;
}
