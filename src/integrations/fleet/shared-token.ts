import type { Clock } from '../../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../../base/deadline.ts';
import { Secret } from '../../base/secret.ts';
import type { Kept } from './engine.ts';
import type { AccountKeys } from './keys.ts';

/** A token that instances share. */
export interface SharedToken {
  readonly token: Secret;
  /** The generation of a login's token is higher than all that its instance has seen before. */
  readonly generation: number;
  /** Instances retire the token by its mark. */
  readonly mark: string;
  readonly expires: Deadline;
  /** The token's whole life. */
  readonly lifetimeMs: number;
}

/** A token that ends sooner is not taken. */
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

/** Opens the token in a value of the engine. The token may have expired. */
export function openToken(kept: Kept, keys: AccountKeys, clock: Clock): SharedToken | undefined {
  const opened = keys.open(keys.names.token, kept.text);
  if (opened === undefined) return undefined;
  // Sealed by an instance of this account, so it has this shape.
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
 * The earlier of two moments: the engine's time to live, which needs no common clock, and the sealed expiry, which an
 * engine can't extend.
 */
export function endOf({ ttlMs }: Kept, sealedWallMs: number, clock: Clock): Deadline {
  const sealedMs = sealedWallMs - clock.wallMs();
  return deadlineIn(ttlMs < 0 ? sealedMs : Math.min(ttlMs, sealedMs), clock);
}

/** True if the other token is worth taking in place of the present one. */
export function isFresher(mine: SharedToken | undefined, other: SharedToken, clock: Clock): boolean {
  const otherMs = untilMs(other.expires, clock);
  if (otherMs <= LEAST_USE_MS || other.mark === mine?.mark) return false;
  if (mine === undefined) return true;
  if (other.generation !== mine.generation) return other.generation > mine.generation;
  return otherMs > untilMs(mine.expires, clock) + LEAST_USE_MS;
}
