import { type Effect, isBusy, RECOVERY_MS, UNHEARD } from './judgement.ts';
import { floorOf, type Slope, slopeOf } from './slope.ts';
import type { Look, Record } from './soak.ts';
import { PERIOD_MS } from './timetable.ts';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;
/** In an hour. */
const MOST_HEAP_MIB = 1;
const MOST_FILES = 10;
/** Those that a system's library opens when it likes. */
const SPARE_FILES = 2;
/** Within which caches fill and pools grow. */
const WARM_UP_MS = 10 * MINUTE_MS;
/** Of a shorter run, half of it. */
const WARM_UP_PART = 0.5;
/** Within which V8 has compiled what is ever used: measured, see docs/reliability.md. A shorter run says nothing of it. */
const COMPILED_MS = 30 * MINUTE_MS;

/** How what is held grows, once it is warm. */
export interface Growth {
  readonly warm: readonly Look[];
  /** Without what is compiled. */
  readonly objectsMib: Slope;
  /** With it, once it is compiled. */
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
    `${load.sent} requests were sent, ${counted} are told of, ${unheard} had no answer`,
  );
  aim(exitCode === 0, `it ended with ${exitCode}`);
  return [...effects.flatMap((effect) => effect.misses), ...misses, ...wrongArrivals(record)];
}

/** What the far side saw, and should never see. */
function wrongArrivals({ arrivals, made }: Pick<Record, 'arrivals' | 'made'>): string[] {
  const { twice, changed, strays, verdicts, expiredMs } = arrivals;
  // What was sent in time arrives late when a process was stopped, or had to wait.
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
    ...(late > 0 ? [`${late} requests had a token that had ended`] : []),
  ];
}

/** A short run can't tell a small growth from none: it misses the aim where there is no doubt. */
function surelyAbove({ perHour, low }: Slope, most: number): boolean {
  return perHour > most && low > most;
}
