import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What was late by so much may have let one of the product's own limits of a second pass. */
export const STILL_MS = 100;
/** Of the time in which processes of this machine waited for a processor: the tests that run beside make some. */
const MOST_WAITING = 0.5;

/** Whether the machine let this process, and those that it talks to, run whenever they wanted. */
export class MachineLoad {
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });
  readonly #begunMs = performance.now();
  readonly #begunWaitingMs = waitingMs();

  constructor() {
    this.#delay.enable();
  }

  /** Ends the watch. @returns what disturbed it, in words; undefined for nothing */
  end(): string | undefined {
    this.#delay.disable();
    const lateMs = Math.round(this.#delay.max / 1e6);
    if (lateMs >= STILL_MS) return `stood still for ${lateMs} ms`;
    const waiting = (waitingMs() - this.#begunWaitingMs) / (performance.now() - this.#begunMs);
    return waiting > MOST_WAITING
      ? `let processes wait for ${Math.round(100 * waiting)} % of the time`
      : undefined;
  }
}

/** Pressure Stall Information of Linux, where it is there: how long some process has waited for a processor. */
function waitingMs(): number {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1]) / 1_000;
  } catch {
    return 0;
  }
}
