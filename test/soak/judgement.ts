import type { Failure } from './load.ts';
import type { Trouble } from './trouble.ts';

/** A fault that was made. */
export interface Made {
  readonly trouble: Pick<Trouble, 'name' | 'harms' | 'excuses'>;
  readonly beganMs: number;
  readonly endedMs: number;
  /** For so long one of the processes waited for a processor until the next fault. */
  heldUpMs: number;
}

/** What a fault did. */
export interface Effect {
  readonly name: string;
  readonly failed: number;
  readonly byWhat: Readonly<Record<string, number>>;
  /** From its end until the last request began that failed of it; 0 for none. */
  readonly recoveryMs: number;
  readonly misses: readonly string[];
  /** What would be one, had the machine had time for us. */
  readonly doubts: readonly string[];
}

/** In which it has to be well again once a fault is over. */
export const RECOVERY_MS = 5_000;
/** Answers of bearerd's own by which a fault that isn't its fault may be told. */
const OWN = [
  'upstream-unreachable',
  'upstream-invalid',
  'upstream-timeout',
  'token-unavailable',
  'overloaded',
];
/** An answer that had begun can only be broken off. */
const BROKEN = 'broken';
/** No answer, in fifteen seconds or before the connection broke: as it is where the server was too busy to take it. */
export const UNHEARD: readonly string[] = ['silent', 'cut off'];
/** Of ten seconds: then what took long says nothing of bearerd. */
const MOST_HELD_UP_MS = 1_500;

/** Whether the machine had no time. */
export function isBusy(heldUpMs: number): boolean {
  return heldUpMs > MOST_HELD_UP_MS;
}

/** Each failure belongs to the last fault that had begun when its request did; the first is the start, with none. */
export function effectsOf(made: readonly Made[], failures: readonly Failure[]): Effect[] {
  const theirs = new Map<Made, Failure[]>(made.map((one) => [one, []]));
  for (const failure of failures) {
    // A fault hits who is under way as it begins, too.
    const cause = made.findLast(({ beganMs }) => beganMs <= failure.endedMs) ?? made[0]!;
    const own = made.findLast(({ beganMs }) => beganMs <= failure.beganMs) ?? made[0]!;
    theirs.get(cause.trouble.harms && own !== cause ? cause : own)!.push(failure);
  }
  return made.map((one, i) => {
    // A request that has waited long began in an earlier one.
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
  if (!harms && failures.length > 0) late.push(`${name}: ${failures.length} failed of what does no harm`);
  if (harms && lastMs > RECOVERY_MS) late.push(`${name}: it went on for ${lastMs} ms after its end`);
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
