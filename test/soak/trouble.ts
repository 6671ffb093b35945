import type { Relay } from '../faults/relay.ts';
import type { FarProcess } from './far-process.ts';
import type { Files } from './files.ts';
import type { Program } from './program.ts';

/** All that a fault can be made with. */
export interface World {
  readonly upstream: Relay;
  readonly session: Relay;
  readonly far: FarProcess;
  readonly program: Program;
  readonly files: Files;
}

/** A fault that lasts for a while, and is over at once. */
export interface Trouble {
  readonly name: string;
  /** Requests may fail of it; else none may. */
  readonly harms: boolean;
  /** What may come of a request, beside bearerd's own problems and an answer that is visibly broken. */
  readonly excuses: readonly string[];
  readonly longestMs?: number;
  /** Gives what ends it. */
  readonly begin: (world: World, random: () => number) => () => unknown;
}
