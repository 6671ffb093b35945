import type {
  Engine,
  Kept,
  Names,
  Publication,
  Retirement,
  Seen,
} from '../../src/integrations/fleet/engine.ts';
import { type Pace, realSpan, simulatedSpan } from './pace.ts';

/** The least real length of a lease, because the machine's delays don't shrink with the pace. */
const LEAST_LEASE_MS = 400;

/** A real engine whose values live as long in simulated time as they would in real time. */
export class PacedEngine implements Engine {
  readonly #engine: Engine;
  readonly #pace: Pace;
  #looking: Promise<Seen | undefined> | undefined;

  constructor(engine: Engine, pace: Pace) {
    this.#engine = engine;
    this.#pace = pace;
  }

  /** One look for all members that ask in one turn: in reality each would have its own machine. */
  look(names: Names): Promise<Seen | undefined> {
    this.#looking ??= this.#look(names);
    setImmediate(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(names: Names): Promise<Seen | undefined> {
    const seen = await this.#engine.look(names);
    const simulated = (kept: Kept | undefined) =>
      kept && { ...kept, ttlMs: kept.ttlMs < 0 ? kept.ttlMs : simulatedSpan(this.#pace, kept.ttlMs) };
    return seen && { ...seen, token: simulated(seen.token), hold: simulated(seen.hold) };
  }

  lock(names: Names, owner: string, leaseMs: number, seen: Seen) {
    return this.#engine.lock(names, owner, this.#lease(leaseMs), seen);
  }

  extend(names: Names, owner: string, leaseMs: number) {
    return this.#engine.extend(names, owner, this.#lease(leaseMs));
  }

  publish(names: Names, it: Publication) {
    const lockForMs = this.#real(it.lockForMs);
    return this.#engine.publish(names, { ...it, ttlMs: this.#real(it.ttlMs), lockForMs });
  }

  unlock(names: Names, owner: string, lockForMs: number, hold: Kept | undefined) {
    const kept = hold && { ...hold, ttlMs: this.#real(hold.ttlMs) };
    return this.#engine.unlock(names, owner, this.#real(lockForMs), kept);
  }

  retire(names: Names, it: Retirement) {
    const times = { ttlMs: this.#real(it.ttlMs), floorMs: this.#real(it.floorMs) };
    return this.#engine.retire(names, { ...it, ...times });
  }

  listen(names: Names, wake: () => void) {
    return this.#engine.listen(names, wake);
  }

  close() {
    return this.#engine.close();
  }

  #lease(ms: number): number {
    return Math.max(LEAST_LEASE_MS, this.#real(ms));
  }

  #real(ms: number): number {
    return Math.ceil(realSpan(this.#pace, ms));
  }
}
