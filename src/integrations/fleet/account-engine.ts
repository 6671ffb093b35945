import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { untilMs } from '../../base/deadline.ts';
import type { Observe, ShareOperation } from '../../base/events.ts';
import type { Secret } from '../../base/secret.ts';
import { FORCED_RENEWAL_FLOOR_MS } from '../../tokens/schedule.ts';
import type { Engine, LockAnswer, PublishAnswer, RetireAnswer, Seen } from './engine.ts';
import { type Hold, openHold, sealHold } from './hold.ts';
import type { AccountKeys } from './keys.ts';
import { openToken, type SharedToken, sealToken } from './shared-token.ts';

/** A lock holder that dies blocks the others this long. A live one extends the lock after each third of it. */
const LEASE_MS = 3_000;

/** What a look at the engine has found, opened. A value that can't be opened is missing. */
export interface Findings {
  readonly token: SharedToken | undefined;
  readonly hold: Hold | undefined;
  readonly retired: string | undefined;
  readonly seen: Seen;
}

/** The engine as one instance uses it for one account: seals and opens values, and emits an event for each operation. */
export class AccountEngine {
  readonly #engine: Engine;
  readonly #keys: AccountKeys;
  readonly #clock: Clock;
  readonly #observe: Observe;
  readonly #owner = randomUUID();
  /** The version of the last token value, if it could not be opened. */
  #unreadable = '';

  constructor(engine: Engine, keys: AccountKeys, clock: Clock, observe: Observe) {
    this.#engine = engine;
    this.#keys = keys;
    this.#clock = clock;
    this.#observe = observe;
  }

  markOf(token: Secret): string {
    return this.#keys.markOf(token);
  }

  listen(wake: () => void): () => void {
    return this.#engine.listen(this.#keys.names, wake);
  }

  async look(): Promise<Findings | undefined> {
    const seen = await this.#engine.look(this.#keys.names);
    if (seen === undefined) return this.#report('look', undefined);
    const token = seen.token && openToken(seen.token, this.#keys, this.#clock);
    const hold = seen.hold && openHold(seen.hold, this.#keys, this.#clock);
    this.#unreadable = seen.token !== undefined && token === undefined ? seen.versions.token : '';
    this.#report('look', this.#resultOf(seen, token));
    return { token, hold, retired: seen.retired, seen };
  }

  async askForLock({ seen }: Findings): Promise<LockAnswer | undefined> {
    return this.#report('lock', await this.#engine.lock(this.#keys.names, this.#owner, LEASE_MS, seen));
  }

  /** Extends the lock until `done`. */
  async keepLock(done: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(LEASE_MS / 3, done);
      if (done.aborted) return;
      await this.#engine.extend(this.#keys.names, this.#owner, LEASE_MS);
    }
  }

  /** Gives back the lock after `lockForMs`. */
  async unlock(lockForMs: number, hold: Hold | undefined): Promise<void> {
    const sealed = hold && {
      text: sealHold(hold, this.#keys),
      ttlMs: Math.max(1, Math.ceil(untilMs(hold.ends, this.#clock))),
    };
    const answer = await this.#engine.unlock(this.#keys.names, this.#owner, lockForMs, sealed);
    if (hold !== undefined) this.#report('hold', answer);
  }

  /** @param lockForMs if given, the lock is given back after this time */
  async publish(
    shared: SharedToken,
    { isNew, lockForMs }: { readonly isNew: boolean; readonly lockForMs?: number },
  ): Promise<PublishAnswer | undefined> {
    const ttlMs = Math.floor(untilMs(shared.expires, this.#clock));
    if (ttlMs <= 0) return 'older'; // The token has ended: no instance needs it.
    const publication = {
      generation: shared.generation,
      sealed: sealToken(shared, this.#keys),
      ttlMs,
      mark: shared.mark,
      unreadable: this.#unreadable,
      isNew,
      owner: lockForMs === undefined ? '' : this.#owner,
      lockForMs: lockForMs ?? 0,
    };
    return this.#report('publish', await this.#engine.publish(this.#keys.names, publication));
  }

  async retire({ generation, mark, expires }: SharedToken): Promise<RetireAnswer | undefined> {
    const ttlMs = Math.max(1, Math.ceil(untilMs(expires, this.#clock)));
    const retirement = { generation, mark, ttlMs, floorMs: FORCED_RENEWAL_FLOOR_MS };
    return this.#report('retire', await this.#engine.retire(this.#keys.names, retirement));
  }

  #resultOf(seen: Seen, token: SharedToken | undefined): string {
    if (seen.token === undefined) return 'empty';
    if (token === undefined) return 'unreadable';
    return untilMs(token.expires, this.#clock) > 0 ? 'found' : 'expired';
  }

  #report<T extends string | undefined>(op: ShareOperation, result: T): T {
    this.#observe({ type: 'share-operation', op, result: result ?? 'gone' });
    return result;
  }
}
