import type { Clock } from '../../base/clock.ts';
import { deadlineIn, untilMs } from '../../base/deadline.ts';
import type { IssuedToken } from '../../login/issued-token.ts';
import type { Findings } from './account-engine.ts';
import type { Hold } from './hold.ts';
import { isFresher, type SharedToken } from './shared-token.ts';

/** What one instance knows about an account's tokens. Only decides; it never calls the engine. */
export class Knowledge {
  /** The token that the source got last; undefined once an upstream has refused it. */
  mine: SharedToken | undefined;
  hold: Hold | undefined;
  /** When this much of the token's life is left, the instance renews it without the others: see `reserveOf`. */
  reserveMs = 0;
  readonly #clock: Clock;
  readonly #random: () => number;
  /** A token that is better than `mine`. The next login takes it. */
  #offered: SharedToken | undefined;
  /** The highest generation ever seen. The engine may lose data, but a generation must not be used twice. */
  #generation = 0;
  /** The mark of a token that an upstream refused. It is not taken again. */
  #dead: string | undefined;
  /** The mark of a token that this instance's upstream refused, but that the other instances go on using. */
  #allowedAgain: string | undefined;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Evaluates a look at the engine: is the present token refused, and is there a better one? */
  learn({ token, hold, retired }: Findings): { readonly refused: boolean; readonly fresher: boolean } {
    if (hold !== undefined && !this.#holdsLonger(hold)) this.hold = hold;
    if (this.#offered?.mark === retired) this.#offered = undefined;
    if (token !== undefined) this.#generation = Math.max(this.#generation, token.generation);
    const refused = this.mine !== undefined && this.mine.mark === retired;
    if (refused) this.refused();
    const isDead = token?.mark === retired || token?.mark === this.#dead;
    const fresher = token !== undefined && !isDead && isFresher(this.mine, token, this.#clock);
    if (fresher) this.#offered = token;
    return { refused, fresher };
  }

  /** True if this instance has a newer token than the engine. */
  exceeds({ token, retired }: Findings): boolean {
    const { mine } = this;
    if (mine === undefined || mine.mark === retired) return false;
    return token === undefined || token.generation < mine.generation;
  }

  /** An upstream has refused the present token. @returns that token */
  refused(): SharedToken | undefined {
    const { mine } = this;
    this.mine = undefined;
    this.#offered = undefined;
    if (mine !== undefined) this.#dead = mine.mark;
    return mine;
  }

  /** The others go on using this token, so this instance takes it again, once. */
  allowAgain({ mark }: SharedToken): void {
    if (this.#allowedAgain !== mark && this.#dead === mark) this.#dead = undefined;
    this.#allowedAgain = mark;
  }

  /** Takes another instance's token, if it is better than the present one. */
  take(): IssuedToken | undefined {
    const other = this.#offered;
    this.#offered = undefined;
    if (other === undefined || !isFresher(this.mine, other, this.#clock)) return undefined;
    this.#keep(other);
    const lifetimeMs = untilMs(other.expires, this.#clock);
    const ageMs = Math.max(0, other.lifetimeMs - lifetimeMs);
    return { token: other.token, lifetimeMs, warnings: [], ageMs };
  }

  /** Adds the token of this instance's own login. */
  add({ token, lifetimeMs }: IssuedToken, mark: string): SharedToken {
    const generation = ++this.#generation;
    const expires = deadlineIn(lifetimeMs, this.#clock);
    return this.#keep({ token, generation, mark, expires, lifetimeMs });
  }

  /** True if the hold that is known ends later. The engine may have lost data, so a shorter hold changes nothing. */
  #holdsLonger({ ends }: Hold): boolean {
    const mine = this.hold && untilMs(this.hold.ends, this.#clock);
    return mine !== undefined && mine > untilMs(ends, this.#clock);
  }

  #keep(shared: SharedToken): SharedToken {
    const leftMs = untilMs(shared.expires, this.#clock);
    this.mine = shared;
    this.reserveMs = reserveOf(leftMs, this.#random());
    this.hold = undefined;
    return shared;
  }
}

/**
 * How much of a token's life is left when an instance renews it alone, if the engine can't be reached. `random` in [0,
 * 1) differs for each instance, so that they don't all log in at once, and each has time for a few failures: 4 to 14 %
 * of the life, and up to a quarter of a short one, which is what renewal leaves of it.
 */
function reserveOf(lifeMs: number, random: number): number {
  const least = Math.max(lifeMs * 0.04, Math.min(1_000, lifeMs * 0.1));
  const most = Math.max(lifeMs * 0.14, Math.min(10_000, lifeMs * 0.24));
  return least + (most - least) * random;
}
