import type { Clock } from '../../base/clock.ts';
import { deadlineIn, untilMs } from '../../base/deadline.ts';
import type { IssuedToken } from '../../login/issued-token.ts';
import type { Findings } from './account-engine.ts';
import type { Hold } from './hold.ts';
import { isFresher, type SharedToken } from './shared-token.ts';

/** What one instance knows of an account's tokens. It decides and does nothing. */
export class Knowledge {
  /** The token that the source was given last, as long as no upstream has refused it. */
  mine: SharedToken | undefined;
  hold: Hold | undefined;
  /** How much of the token's life is left for a renewal without the others: see `reserveOf`. */
  reserveMs = 0;
  readonly #clock: Clock;
  readonly #random: () => number;
  /** A better one than mine, for the next login to take. */
  #offered: SharedToken | undefined;
  /** The highest that was ever seen: a number must not come twice, though the engine forgets. */
  #generation = 0;
  /** Of a token that an upstream has refused: not to be taken again. */
  #dead: string | undefined;
  /** Of one that the fleet goes on with though our upstream has refused it. */
  #spared: string | undefined;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Draws the conclusions from a look at the engine: whether the token at hand is refused, and whether there is a better one. */
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

  /** Whether the engine knows less than we do. */
  exceeds({ token, retired }: Findings): boolean {
    const { mine } = this;
    if (mine === undefined || mine.mark === retired) return false;
    return token === undefined || token.generation < mine.generation;
  }

  /** An upstream has refused the token at hand. Gives it. */
  refused(): SharedToken | undefined {
    const { mine } = this;
    this.mine = undefined;
    this.#offered = undefined;
    if (mine !== undefined) this.#dead = mine.mark;
    return mine;
  }

  /** The others go on with it: so do we, once. */
  spare({ mark }: SharedToken): void {
    if (this.#spared !== mark && this.#dead === mark) this.#dead = undefined;
    this.#spared = mark;
  }

  /** Another's token, if there is a better one than ours. */
  take(): IssuedToken | undefined {
    const other = this.#offered;
    this.#offered = undefined;
    if (other === undefined || !isFresher(this.mine, other, this.#clock)) return undefined;
    this.#keep(other);
    const lifetimeMs = untilMs(other.expires, this.#clock);
    const ageMs = Math.max(0, other.lifetimeMs - lifetimeMs);
    return { token: other.token, lifetimeMs, warnings: [], ageMs };
  }

  /** The token of our own login. */
  add({ token, lifetimeMs }: IssuedToken, mark: string): SharedToken {
    const generation = ++this.#generation;
    const expires = deadlineIn(lifetimeMs, this.#clock);
    return this.#keep({ token, generation, mark, expires, lifetimeMs });
  }

  /** An engine may have lost the hold that stands, and never puts one off. */
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
 * The end of a token's life in which an instance logs in by itself, should the engine be gone. Each instance has its own
 * (`random` in [0, 1)), so that they don't all log in at once, and each has time for some tries that fail: 4 to 14 % of the
 * life, of a short one up to a quarter, which is what its renewal leaves.
 */
function reserveOf(lifeMs: number, random: number): number {
  const least = Math.max(lifeMs * 0.04, Math.min(1_000, lifeMs * 0.1));
  const most = Math.max(lifeMs * 0.14, Math.min(10_000, lifeMs * 0.24));
  return least + (most - least) * random;
}
