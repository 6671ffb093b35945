import { effectsOf, isBusy, RECOVERY_MS } from './judgement.ts';
import { floorOf, type Slope, slopeOf } from './slope.ts';
import type { Look, Plan, Record } from './soak.ts';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;
/** In an hour. */
const MOST_HEAP_MIB = 1;
const MOST_FILES = 10;
/** Within which code is compiled and pools grow, if the run is that long. */
const WARM_UP_MS = 10 * MINUTE_MS;

export interface Summary {
  readonly misses: readonly string[];
  readonly [figure: string]: unknown;
}

/** What came of it, and each aim that was missed. */
export function summaryOf({ lengthMs, seed, wire }: Plan, record: Record): Summary {
  const { load, made, looks, before, after, arrivals, lines, exitCode } = record;
  const effects = effectsOf(made, load.failures);
  const warm = looks.filter(({ atMs }) => atMs >= looks[0]!.atMs + Math.min(WARM_UP_MS, lengthMs / 4));
  const slope = (value: (look: Look) => number) =>
    slopeOf(
      floorOf(
        warm.map((one) => ({ atMs: one.atMs, value: value(one) })),
        MINUTE_MS,
      ),
    );
  const heap = slope(({ heapBytes }) => heapBytes / MIB);
  const files = slope(({ openFiles }) => openFiles);
  const doubts = effects.flatMap((effect) => effect.doubts);
  const recoveries = effects
    .filter((effect) => effect.doubts.length === 0)
    .map(({ recoveryMs }) => recoveryMs)
    .sort((a, b) => a - b);
  const longestMs = recoveries.at(-1) ?? 0;
  const heldUp = made.map(({ heldUpMs }) => Math.round(heldUpMs)).sort((a, b) => a - b);
  const misses = effects.flatMap((effect) => effect.misses);
  const aim = (met: boolean, miss: string) => {
    if (!met) misses.push(miss);
  };
  aim(!surelyAbove(heap, MOST_HEAP_MIB), `the heap grows by ${heap.perHour.toFixed(2)} MiB an hour`);
  aim(!surelyAbove(files, MOST_FILES), `open files grow by ${files.perHour} an hour`);
  aim(
    after.openFiles <= before.openFiles + 2,
    `${after.openFiles} files at the end, ${before.openFiles} before`,
  );
  aim(longestMs <= RECOVERY_MS, `the longest recovery took ${longestMs} ms`);
  aim(record.internalErrors === 0, `${record.internalErrors} internal errors`);
  aim(record.inFlight === 0, `${record.inFlight} requests are under way at the end`);
  aim(record.counted === load.sent, `${load.sent} requests were sent, ${record.counted} are told of`);
  aim(arrivals.twice.length === 0, `acted on twice: ${arrivals.twice.slice(0, 10)}`);
  aim(arrivals.changed.length === 0, `arrived changed: ${arrivals.changed.slice(0, 10)}`);
  aim(arrivals.strays === 0, `${arrivals.strays} requests at the session endpoint are no login`);
  aim((arrivals.verdicts.wrong ?? 0) === 0, `${arrivals.verdicts.wrong} requests had a wrong credential`);
  const late = arrivals.expiredMs.filter((atMs) => !excusedIn(record, atMs));
  aim(late.length === 0, `${late.length} requests had a token that had ended`);
  aim(exitCode === 0, `it ended with ${exitCode}`);
  return {
    minutes: lengthMs / MINUTE_MS,
    seed,
    wire,
    sent: load.sent,
    served: load.served,
    failed: load.failures.length,
    faults: made.length,
    logins: arrivals.logins,
    recoveryMs: { median: recoveries[recoveries.length >> 1], longest: longestMs },
    heapMiBAnHour: heap,
    heapMiB: [before, warm[0], warm.at(-1), after].map((one) => round((one?.heapBytes ?? 0) / MIB)),
    residentMiB: [before, warm[0], warm.at(-1), after].map((one) => round((one?.residentBytes ?? 0) / MIB)),
    openFilesAnHour: files,
    openFiles: [before, warm[0], warm.at(-1), after].map((one) => one?.openFiles),
    resources: { before: before.resources, after: after.resources },
    verdicts: arrivals.verdicts,
    lines,
    effects: byName(effects),
    heldUpMs: heldUp[heldUp.length >> 1],
    doubts,
    misses,
  };
}

const round = (value: number) => Math.round(value * 100) / 100;

/** A short run can't tell a small growth from none: it misses the aim where there is no doubt. */
function surelyAbove({ perHour, low }: Slope, most: number): boolean {
  return perHour > most && low > most;
}

/** What was sent in time arrives late when somebody was stopped. */
function excusedIn({ made }: Record, atMs: number): boolean {
  return made.some(
    ({ trouble, beganMs, endedMs, heldUpMs }) =>
      (trouble.harms || isBusy(heldUpMs)) && atMs >= beganMs && atMs <= endedMs + RECOVERY_MS,
  );
}

function byName(effects: ReturnType<typeof effectsOf>): object {
  const sum: { [name: string]: { times: number; longestMs: number; [what: string]: number } } = {};
  for (const { name, recoveryMs, byWhat } of effects) {
    sum[name] ??= { times: 0, longestMs: 0 };
    const of = sum[name];
    of.times++;
    of.longestMs = Math.max(of.longestMs, recoveryMs);
    for (const [what, count] of Object.entries(byWhat)) of[what] = (of[what] ?? 0) + count;
  }
  return sum;
}
