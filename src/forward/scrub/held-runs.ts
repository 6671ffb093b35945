import type { Clock } from '../../base/clock.ts';
import { type Member, Members } from '../../base/members.ts';

/** An answer that holds back bytes. */
export interface Held extends Member {
  /** When the first of them are released, on the monotonic clock; undefined if nothing is held. */
  readonly dueMonoMs: number | undefined;
  /** Called once that time has passed; must not throw. */
  release(nowMonoMs: number): void;
}

/** One timer for all answers that hold back bytes; it stops when there are none. */
export class HeldRuns {
  readonly #clock: Clock;
  readonly #held = new Members<Held>();
  #running = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(held: Held): void {
    if (held.memberAt === -1) this.#held.add(held);
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  delete(held: Held): void {
    this.#held.delete(held);
  }

  async #run(): Promise<void> {
    while (this.#held.size > 0) {
      await this.#clock.sleep(this.#nextMonoMs() - this.#clock.monoMs());
      const now = this.#clock.monoMs();
      for (const held of this.#held) {
        if (held.dueMonoMs !== undefined && held.dueMonoMs <= now) held.release(now);
        if (held.dueMonoMs === undefined) this.#held.delete(held);
      }
    }
    this.#running = false;
  }

  #nextMonoMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueMonoMs } of this.#held) if (dueMonoMs !== undefined && dueMonoMs < next) next = dueMonoMs;
    return Number.isFinite(next) ? next : this.#clock.monoMs();
  }
}
