import { type Clock, systemClock } from '../../src/base/clock.ts';

/** How fast simulated time goes. By the machine's clock, so that it is the same in each process. */
export interface Pace {
  /** Each begins at a moment of simulated time, `fromMs`, which is `realMs` on the machine's clock. */
  readonly segments: readonly { readonly fromMs: number; readonly realMs: number; readonly rate: number }[];
  /** The end, in simulated time. */
  readonly untilMs: number;
}

/** Spans of simulated time that go at real speed, because something in them is timed. */
export type Slow = readonly (readonly [fromMs: number, toMs: number])[];

/** @param slow in order, without overlap. The time after the end goes at real speed, too. */
export function paceOf(startMs: number, rate: number, untilMs: number, slow: Slow): Pace {
  const changes = slow.flatMap(([fromMs, toMs]) => [
    { fromMs, rate: 1 },
    { fromMs: toMs, rate },
  ]);
  const segments: { fromMs: number; realMs: number; rate: number }[] = [];
  for (const change of [{ fromMs: 0, rate }, ...changes, { fromMs: untilMs, rate: 1 }]) {
    const before = segments.at(-1);
    const realMs =
      before === undefined ? startMs : before.realMs + (change.fromMs - before.fromMs) / before.rate;
    segments.push({ ...change, realMs });
  }
  return { segments, untilMs };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Simulated time since the start. */
export function simulatedMs(pace: Pace, realMs = now()): number {
  const segment = pace.segments.findLast((one) => one.realMs <= realMs) ?? pace.segments[0]!;
  return segment.fromMs + Math.max(0, realMs - segment.realMs) * segment.rate;
}

/** Converts a span of real time that begins now into simulated time. */
export function simulatedSpan(pace: Pace, ms: number): number {
  return simulatedMs(pace, now() + ms) - simulatedMs(pace);
}

export function realSpan(pace: Pace, ms: number): number {
  return realMsAt(pace, simulatedMs(pace) + Math.max(0, ms)) - now();
}

/** The machine's time at a moment of simulated time. */
function realMsAt(pace: Pace, atMs: number): number {
  const segment = pace.segments.findLast(({ fromMs }) => fromMs <= atMs) ?? pace.segments[0]!;
  return segment.realMs + (atMs - segment.fromMs) / segment.rate;
}

/** A clock in simulated time. */
export function clockOf(pace: Pace): Clock {
  return {
    wallMs: () => pace.segments[0]!.realMs + simulatedMs(pace),
    monoMs: () => simulatedMs(pace),
    sleep: (ms, signal) => systemClock.sleep(realSpan(pace, ms), signal),
  };
}
