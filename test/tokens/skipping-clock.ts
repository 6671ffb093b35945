import { LONGEST_SLEEP_MS } from '../../src/tokens/schedule.ts';
import { FakeClock } from '../support/fake-clock.ts';

/**
 * A fake clock for long times. It settles promises by turns of the microtask queue, which costs a third of turns of the
 * event loop. While nothing is due, it skips the loop's checks of the wall clock (two a minute, a million a year): they
 * see nothing until that clock is set.
 */
export class SkippingClock extends FakeClock {
  /** Nothing is due before this time on the monotonic clock; 0 skips nothing. */
  quietUntilMonoMs = 0;
  readonly #skipping = new Set<AbortController>();

  override async settle(): Promise<void> {
    for (let turn = 0; turn < 32; turn++) await null;
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const looks = Math.floor((this.quietUntilMonoMs - this.monoMs()) / LONGEST_SLEEP_MS);
    if (ms !== LONGEST_SLEEP_MS || looks < 2) return super.sleep(ms, signal);
    return this.#skip(looks, signal);
  }

  /** Call it before an action from outside: the loop then sleeps as without skipping, from its last check on. */
  look(): Promise<void> {
    for (const skipping of this.#skipping) skipping.abort();
    return this.settle();
  }

  override async stepWall(ms: number): Promise<void> {
    this.quietUntilMonoMs = 0; // What is due next is no longer known.
    await this.look();
    return super.stepWall(ms);
  }

  async #skip(looks: number, signal: AbortSignal | undefined): Promise<void> {
    const skipping = new AbortController();
    const leave = () => skipping.abort();
    signal?.addEventListener('abort', leave, { once: true });
    this.#skipping.add(skipping);
    await super.sleep(looks * LONGEST_SLEEP_MS, skipping.signal);
    this.#skipping.delete(skipping);
    signal?.removeEventListener('abort', leave);
  }
}
