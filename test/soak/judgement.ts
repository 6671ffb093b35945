import type { Failure } from './load.ts';
import type { Trouble } from './trouble.ts';

/** A fault that was made. */
export interface Made {
  readonly trouble: Pick<Trouble, 'name' | 'harms' | 'excuses'>;
  readonly beganMs: number;
  readonly endedMs: number;
  /** How long one of the processes waited for a processor before the next fault. */
  heldUpMs: number;
}

/** The effect of a fault. */
export interface Effect {
  readonly name: string;
  readonly failed: number;
  readonly byWhat: Readonly<Record<string, number>>;
  /** From the end of the fault to the start of the last request that failed by it; 0 if none did. */
  readonly recoveryMs: number;
  readonly misses: readonly string[];
  /** What would miss an aim on a machine that was not busy. */
  readonly doubts: readonly string[];
}

/** The time for the recovery after the end of a fault. */
export const RECOVERY_MS = 5_000;
/** Problem codes that are right during a fault of another party. */
const OWN = [
  'upstream-unreachable',
  'upstream-invalid',
  'upstream-timeout',
  'token-unavailable',
  'overloaded',
];
/** The failure of an answer that had already begun. */
const BROKEN = 'broken';
/** No answer within fifteen seconds, or before the connection broke: so it is if the machine is too busy. */
export const UNHEARD: readonly string[] = ['silent', 'cut off'];
/** The longest wait in a period of ten seconds; after a longer one slowness says nothing about bearerd. */
const MOST_HELD_UP_MS = 1_500;

/** Whether the machine was busy. */
export function isBusy(heldUpMs: number): boolean {
  return heldUpMs > MOST_HELD_UP_MS;
}

/** Assigns each failure to the last fault before the start of its request. The first entry is the start, which is no fault. */
export function effectsOf(made: readonly Made[], failures: readonly Failure[]): Effect[] {
  const theirs = new Map<Made, Failure[]>(made.map((one) => [one, []]));
  for (const failure of failures) {
    // A fault also affects requests that are under way when it begins.
    const cause = made.findLast(({ beganMs }) => beganMs <= failure.endedMs) ?? made[0]!;
    const own = made.findLast(({ beganMs }) => beganMs <= failure.beganMs) ?? made[0]!;
    theirs.get(cause.trouble.harms && own !== cause ? cause : own)!.push(failure);
  }
  return made.map((one, i) => {
    // A request that waited long began in an earlier period.
    const heldUpMs = Math.max(...made.slice(Math.max(0, i - 2), i + 1).map((each) => each.heldUpMs));
    return effectOf({ ...one, heldUpMs }, theirs.get(one)!);
  });
}

function effectOf({ trouble, endedMs, heldUpMs }: Made, failures: readonly Failure[]): Effect {
  const { name, harms, excuses } = trouble;
  const byWhat: Record<string, number> = {};
  for (const { what } of failures) byWhat[what] = (byWhat[what] ?? 0) + 1;
  const after = (times: readonly number[]) => times.reduce((most, atMs) => Math.max(most, atMs - endedMs), 0);
  const recoveryMs = failures.length === 0 ? 0 : after(failures.map(({ beganMs }) => beganMs));
  const lastMs = failures.length === 0 ? 0 : after(failures.map((one) => one.endedMs));
  const late: string[] = [];
  if (!harms && failures.length > 0) late.push(`${name}: ${failures.length} failed during a harmless fault`);
  if (harms && lastMs > RECOVERY_MS) late.push(`${name}: failures went on for ${lastMs} ms after its end`);
  for (const what of UNHEARD) {
    if (harms && byWhat[what] !== undefined) late.push(`${name}: ${byWhat[what]} ended as "${what}"`);
  }
  const odd = Object.keys(byWhat)
    .filter((what) => !UNHEARD.includes(what))
    .filter((what) => what !== BROKEN && !OWN.includes(what) && !excuses.includes(what))
    .map((what) => `${name}: ${byWhat[what]} ended as "${what}"`);
  const [misses, doubts] = isBusy(heldUpMs) ? [odd, late] : [[...late, ...odd], []];
  return { name, failed: failures.length, byWhat, recoveryMs, misses, doubts };
}
