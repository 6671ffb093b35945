import { createHistogram, type Histogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** The interval of measurements while there is traffic. */
const INTERVAL_MS = 1_000;
const NANOSECONDS = 1e9;
/** Later than this the process did not run: the garbage collector and our own work take less. */
const PAUSE_MS = 1_000;
const MOST_PAUSES = 10;

/** The process did not run for so long. */
export interface Pause {
  readonly ms: number;
  /** When it went on, on the wall clock. */
  readonly endedMs: number;
}

const FIGURES: readonly [name: string, help: string, of: (histogram: Histogram) => number][] = [
  ['min', 'The minimum recorded event loop delay.', ({ min }) => min],
  ['max', 'The maximum recorded event loop delay.', ({ max }) => max],
  ['mean', 'The mean of the recorded event loop delays.', ({ mean }) => mean],
  ['stddev', 'The standard deviation of the recorded event loop delays.', ({ stddev }) => stddev],
  ['p50', 'The 50th percentile of the recorded event loop delays.', (h) => h.percentile(50)],
  ['p90', 'The 90th percentile of the recorded event loop delays.', (h) => h.percentile(90)],
  ['p99', 'The 99th percentile of the recorded event loop delays.', (h) => h.percentile(99)],
];

/**
 * The lag of the event loop, under prom-client's names. prom-client's own monitor wakes the process a hundred times a
 * second, always. Here a timer runs only while there is traffic, and each read measures once. The figures cover the
 * time since the last read.
 */
export class EventLoopLag {
  readonly #histogram = createHistogram();
  readonly #gauges: readonly (readonly [Gauge, (histogram: Histogram) => number])[];
  readonly #now: Gauge;
  #timer: NodeJS.Timeout | undefined;
  #traffic = false;
  #pauses: readonly Pause[] = [];

  constructor(registry: Registry) {
    const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
    this.#now = gauge('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.');
    this.#gauges = FIGURES.map(([name, help, of]) => [
      gauge(`nodejs_eventloop_lag_${name}_seconds`, help),
      of,
    ]);
  }

  /** Sets the gauges, and starts a new period. */
  async read(): Promise<void> {
    const ns = await turnNs();
    this.#record(ns);
    this.#now.set(ns / NANOSECONDS);
    for (const [gauge, of] of this.#gauges) gauge.set(of(this.#histogram) / NANOSECONDS);
    this.#histogram.reset();
  }

  /** While there was traffic; the last ones, in their order. */
  get pauses(): readonly Pause[] {
    return this.#pauses;
  }

  /** Called for each request. */
  traffic(): void {
    this.#traffic = true;
    if (this.#timer === undefined) this.#measureLater();
  }

  #measureLater(): void {
    this.#traffic = false;
    const dueMs = performance.now() + INTERVAL_MS;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const lateMs = performance.now() - dueMs;
      this.#record(lateMs * 1e6);
      if (lateMs >= PAUSE_MS) this.#paused(lateMs);
      if (this.#traffic) this.#measureLater();
    }, INTERVAL_MS).unref();
  }

  #paused(ms: number): void {
    this.#pauses = [...this.#pauses, { ms, endedMs: Date.now() }].slice(-MOST_PAUSES);
  }

  #record(ns: number): void {
    this.#histogram.record(Math.max(1, Math.round(ns)));
  }
}

/** Nanoseconds that one turn of the event loop takes. */
function turnNs(): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    setImmediate(() => resolve((performance.now() - startMs) * 1e6));
  });
}
