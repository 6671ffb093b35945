import type { Relay } from '../faults/relay.ts';
import type { FarProcess } from './far-process.ts';
import type { Files } from './files.ts';
import type { Program } from './program.ts';

/** Everything that a fault may act on. */
export interface World {
  readonly upstream: Relay;
  readonly session: Relay;
  readonly far: FarProcess;
  readonly program: Program;
  readonly files: Files;
}

/** A fault with a start and an end. */
export interface Trouble {
  readonly name: string;
  /** Whether requests may fail during the fault. */
  readonly harms: boolean;
  /** Allowed failures of a request, besides problems of bearerd and an answer that visibly breaks off. */
  readonly excuses: readonly string[];
  readonly longestMs?: number;
  /** Starts the fault; gives a function that ends it. */
  readonly begin: (world: World, random: () => number) => () => unknown;
}
