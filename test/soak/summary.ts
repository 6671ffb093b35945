import { type Growth, growthOf, missesOf } from './aims.ts';
import { type Effect, effectsOf } from './judgement.ts';
import type { Look, Plan, Record } from './soak.ts';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;

export interface Summary {
  readonly misses: readonly string[];
  readonly [figure: string]: unknown;
}

/** The results, and each missed aim. */
export function summaryOf({ lengthMs, seed, wire }: Plan, record: Record): Summary {
  const { load, made, arrivals, before, after, lines } = record;
  const effects = effectsOf(made, load.failures);
  const recoveriesMs = effects
    .filter(({ doubts }) => doubts.length === 0)
    .map(({ recoveryMs }) => recoveryMs)
    .sort(ascending);
  const growth = growthOf(record, lengthMs);
  return {
    minutes: lengthMs / MINUTE_MS,
    seed,
    wire,
    sent: load.sent,
    served: load.served,
    failed: load.failures.length,
    faults: made.length - 1,
    logins: arrivals.logins,
    recoveryMs: { median: recoveriesMs[recoveriesMs.length >> 1], longest: recoveriesMs.at(-1) },
    ...sizes(growth, before, after),
    resources: { before: before.resources, after: after.resources },
    verdicts: arrivals.verdicts,
    heldUpMs: made.map(({ heldUpMs }) => Math.round(heldUpMs)).sort(ascending)[made.length >> 1],
    lines,
    effects: byName(effects),
    doubts: effects.flatMap(({ doubts }) => doubts),
    misses: missesOf(record, effects, growth),
  };
}

const ascending = (a: number, b: number) => a - b;

/** Before the load, after the warm-up, at the end of the load, and after it. */
function sizes({ heapMib, objectsMib, files, warm }: Growth, before: Look, after: Look): object {
  const shown = [before, warm[0] ?? before, warm.at(-1) ?? after, after];
  const mib = (bytes: number) => Math.round((bytes / MIB) * 100) / 100;
  return {
    heapMibAnHour: Number.isFinite(heapMib.low) ? heapMib : 'unknown: the run is too short',
    withoutCodeMibAnHour: objectsMib,
    heapMib: shown.map(({ heapBytes }) => mib(heapBytes)),
    residentMib: shown.map(({ residentBytes }) => mib(residentBytes)),
    openFilesAnHour: files,
    openFiles: shown.map(({ openFiles }) => openFiles),
  };
}

function byName(effects: readonly Effect[]): object {
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
