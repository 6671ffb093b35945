import type { Fleet } from '../contenders/fleet.ts';
import type { Upstream } from '../upstream/upstream.ts';

export interface Bench {
  readonly upstream: Upstream;
  readonly fleet: Fleet;
}

/** One figure of ours, and what it should be at most. */
export interface Verdict {
  readonly what: string;
  /** Undefined where the peer that it is compared with is not installed. */
  readonly figure: number | undefined;
  readonly unit: string;
  readonly target?: number;
  readonly must?: number;
}

export interface Result {
  readonly title: string;
  readonly head: readonly string[];
  readonly lines: readonly (readonly string[])[];
  readonly verdicts: readonly Verdict[];
}

/** A part of the table, which can be run alone by its name. */
export interface Row {
  readonly name: string;
  run(bench: Bench): Promise<Result>;
}
