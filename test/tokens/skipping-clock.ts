import { LONGEST_SLEEP_MS } from '../../src/tokens/schedule.ts';
import { FakeClock } from '../support/fake-clock.ts';

/**
 * A fake clock for long times. There are only promises here, so that some turns of the microtask queue settle them, at
 * a third of an event loop's price. And where nothing is due, the looks that the loop takes at the wall clock twice a
 * minute are skipped: a million a year, none of which sees anything until that clock is set.
 */
export class SkippingClock extends FakeClock {
  /** Until then nothing is due, by the monotonic clock; 0 to skip nothing. */
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

  /** Before an action from outside: the loop sleeps as it would have, from its last look on. */
  look(): Promise<void> {
    for (const skipping of this.#skipping) skipping.abort();
    return this.settle();
  }

  override async stepWall(ms: number): Promise<void> {
    this.quietUntilMonoMs = 0; // By which clock something is due isn't known any more.
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
