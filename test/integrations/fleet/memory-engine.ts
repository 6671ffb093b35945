import type {
  Engine,
  Kept,
  LockAnswer,
  Names,
  Publication,
  PublishAnswer,
  Retirement,
  Seen,
} from '../../../src/integrations/fleet/engine.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

/** Does what the scripts of a real engine do, on a test's clock. For one account. */
export class MemoryEngine implements Engine {
  readonly #clock: FakeClock;
  readonly #values = new Map<string, { readonly text: string; readonly endsMonoMs: number }>();
  readonly #wakes = new Set<() => void>();

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  async look({ token, hold, retired }: Names): Promise<Seen> {
    const versions = { token: this.#text(token), hold: this.#text(hold) };
    return {
      token: this.#kept(token),
      hold: this.#kept(hold),
      retired: this.#text(retired) || undefined,
      versions,
    };
  }

  async lock({ token, hold, lock }: Names, owner: string, leaseMs: number, seen: Seen): Promise<LockAnswer> {
    if (this.#text(token) !== seen.versions.token || this.#text(hold) !== seen.versions.hold)
      return 'changed';
    if (this.#text(lock) !== '') return 'another';
    this.#put(lock, owner, leaseMs);
    return 'mine';
  }

  async extend({ lock }: Names, owner: string, leaseMs: number): Promise<void> {
    if (this.#text(lock) === owner) this.#put(lock, owner, leaseMs);
  }

  async publish(names: Names, it: Publication): Promise<PublishAnswer> {
    if (this.#text(names.retired) === it.mark) return 'retired';
    const there = Number(/^\d+/.exec(this.#text(names.token))?.[0] ?? -1);
    const isOlder = there >= it.generation;
    if (!isOlder) this.#put(names.token, it.sealed, it.ttlMs);
    if (!isOlder && it.isNew) this.#values.delete(names.hold);
    this.#free(names, it.owner, it.lockForMs);
    if (isOlder) return 'older';
    this.#call();
    return 'done';
  }

  async unlock(names: Names, owner: string, lockForMs: number, hold: Kept | undefined): Promise<'done'> {
    this.#free(names, owner, lockForMs);
    if (hold === undefined) return 'done';
    this.#put(names.hold, hold.text, hold.ttlMs);
    this.#call();
    return 'done';
  }

  async retire(names: Names, { generation, mark, ttlMs }: Retirement): Promise<'done'> {
    this.#put(names.retired, mark, ttlMs);
    if (this.#text(names.token).startsWith(`${generation}.`)) this.#values.delete(names.token);
    this.#call();
    return 'done';
  }

  listen(_: Names, wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  }

  async close(): Promise<void> {}

  #call(): void {
    for (const wake of this.#wakes) wake();
  }

  #free({ lock }: Names, owner: string, afterMs: number): void {
    if (owner === '' || this.#text(lock) !== owner) return;
    if (afterMs > 0) this.#put(lock, owner, afterMs);
    else this.#values.delete(lock);
  }

  #put(key: string, text: string, ttlMs: number): void {
    this.#values.set(key, { text, endsMonoMs: this.#clock.monoMs() + ttlMs });
  }

  #kept(key: string): Kept | undefined {
    const value = this.#values.get(key);
    if (value === undefined || value.endsMonoMs <= this.#clock.monoMs()) return undefined;
    return { text: value.text, ttlMs: value.endsMonoMs - this.#clock.monoMs() };
  }

  #text(key: string): string {
    return this.#kept(key)?.text ?? '';
  }
}
