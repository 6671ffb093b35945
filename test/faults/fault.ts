import type { Test } from 'tap';
import type { Kind, Outcome } from './visit.ts';
import type { Way, World, WorldOptions } from './world.ts';

/** What a case is about: one fault, one kind of request, one way. */
export interface Scene {
  readonly t: Test;
  readonly world: World;
  readonly kind: Kind;
  /** The request that meets the fault. */
  ask(): Promise<Outcome>;
}

/** A fault that the relay, the two servers or a client of ours can make. */
export interface Played {
  readonly number: number;
  readonly title: string;
  /** All kinds and ways unless given. */
  readonly kinds?: readonly Kind[];
  readonly ways?: readonly Way[];
  readonly options?: Omit<WorldOptions, 'way'>;
  /** It waits for a limit that can't be set: only in the full run. */
  readonly slow?: true;
  /** Makes the fault and says what must be seen. Afterwards it is healed, and the facts are asserted. */
  readonly play: (scene: Scene) => Promise<unknown>;
  /** How long it may take until all is well; 5 s unless given. */
  readonly recoveryMs?: number;
}

/** A fault that needs a process, or another machine: a test that makes it, or what stands in for it. */
export interface Held {
  readonly number: number;
  readonly title: string;
  readonly file: string;
  /** Begins a test's title there. */
  readonly test: string;
  /** Where the test isn't the fault itself: why not. */
  readonly because?: string;
}

/** One of these and nothing else; the id stands for what a client can tell. */
export function seen(t: Test, outcome: Outcome, ...expected: readonly ('broken' | number)[]): void {
  const was = outcome.status === 0 || !outcome.whole ? 'broken' : outcome.status;
  t.ok(expected.includes(was), `${outcome.kind}: ${was}, of ${expected.join(', ')} (${outcome.code ?? ''})`);
}
