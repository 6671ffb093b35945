import { type Effect, isBusy, RECOVERY_MS, UNHEARD } from './judgement.ts';
import { floorOf, type Slope, slopeOf } from './slope.ts';
import type { Look, Record } from './soak.ts';
import { PERIOD_MS } from './timetable.ts';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;
/** The most growth in an hour. */
const MOST_HEAP_MIB = 1;
const MOST_FILES = 10;
/** Files that a system library may open. */
const SPARE_FILES = 2;
/** The time in which caches fill and pools grow. */
const WARM_UP_MS = 10 * MINUTE_MS;
/** The warm-up of a shorter run, as a part of its length. */
const WARM_UP_PART = 0.5;
/** By then V8 has compiled all code in use (measured, see docs/reliability.md). A shorter run has no slope of the heap. */
const COMPILED_MS = 30 * MINUTE_MS;

/** The growth after the warm-up. */
export interface Growth {
  readonly warm: readonly Look[];
  /** The heap without compiled code. */
  readonly objectsMib: Slope;
  /** The whole heap, after all code is compiled. */
  readonly heapMib: Slope;
  readonly files: Slope;
}

export function growthOf({ looks }: Pick<Record, 'looks'>, lengthMs: number): Growth {
  const since = (ms: number) => looks.filter(({ atMs }) => atMs >= looks[0]!.atMs + ms);
  const warm = since(Math.min(WARM_UP_MS, lengthMs * WARM_UP_PART));
  const slope = (of: readonly Look[], value: (look: Look) => number) =>
    slopeOf(
      floorOf(
        of.map((look) => ({ atMs: look.atMs, value: value(look) })),
        MINUTE_MS,
      ),
    );
  return {
    warm,
    objectsMib: slope(warm, ({ heapBytes, codeBytes }) => (heapBytes - codeBytes) / MIB),
    heapMib: slope(since(COMPILED_MS), ({ heapBytes }) => heapBytes / MIB),
    files: slope(warm, ({ openFiles }) => openFiles),
  };
}

/** Each aim that was missed, in words. */
export function missesOf(record: Record, effects: readonly Effect[], growth: Growth): string[] {
  const { before, after, load, counted, inFlight, internalErrors, exitCode } = record;
  const { objectsMib, heapMib, files } = growth;
  const misses: string[] = [];
  const aim = (met: boolean, miss: string) => {
    if (!met) misses.push(miss);
  };
  const grown = [objectsMib, heapMib].find((slope) => surelyAbove(slope, MOST_HEAP_MIB));
  aim(grown === undefined, `the heap grows by ${grown?.perHour} MiB an hour`);
  aim(!surelyAbove(files, MOST_FILES), `open files grow by ${files.perHour} an hour`);
  aim(
    after.openFiles <= before.openFiles + SPARE_FILES,
    `${after.openFiles} files at the end, ${before.openFiles} before`,
  );
  aim(internalErrors === 0, `${internalErrors} internal errors`);
  aim(inFlight === 0, `${inFlight} requests are under way at the end`);
  // A client that gave up before it was accepted can't be counted.
  const unheard = load.failures.filter(({ what }) => UNHEARD.includes(what)).length;
  aim(
    counted <= load.sent && counted >= load.sent - unheard,
    `${load.sent} requests were sent, ${counted} were counted, ${unheard} had no answer`,
  );
  aim(exitCode === 0, `bearerd exited with ${exitCode}`);
  return [...effects.flatMap((effect) => effect.misses), ...misses, ...wrongArrivals(record)];
}

/** Requests that the far side should never see. */
function wrongArrivals({ arrivals, made }: Pick<Record, 'arrivals' | 'made'>): string[] {
  const { twice, changed, strays, verdicts, expiredMs } = arrivals;
  // A request sent in time arrives late if a process was stopped or had to wait.
  const excused = (atMs: number) =>
    made.some(
      ({ trouble, beganMs, endedMs, heldUpMs }) =>
        atMs >= beganMs &&
        ((trouble.harms && atMs <= endedMs + RECOVERY_MS) ||
          (isBusy(heldUpMs) && atMs <= beganMs + PERIOD_MS + RECOVERY_MS)),
    );
  const late = expiredMs.filter((atMs) => !excused(atMs)).length;
  return [
    ...twice.map((id) => `${id} was acted on twice`),
    ...changed.map((id) => `${id} arrived changed`),
    ...(strays > 0 ? [`${strays} requests at the session endpoint are no login`] : []),
    ...('wrong' in verdicts ? [`${verdicts.wrong} requests had a wrong credential`] : []),
    ...(late > 0 ? [`${late} requests had an expired token`] : []),
  ];
}

/** A short run can't tell a small growth from none, so only a certain growth misses the aim. */
function surelyAbove({ perHour, low }: Slope, most: number): boolean {
  return perHour > most && low > most;
}
