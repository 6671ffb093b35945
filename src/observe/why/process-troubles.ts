import { span } from '../../base/span.ts';
import type { Pause } from '../event-loop-lag.ts';
import type { LogLoss } from '../log-output.ts';
import type { Jump } from './clock-watch.ts';
import type { Trouble } from './trouble.ts';

/** The heap, and all memory that the process may have, if the system tells it. */
export interface Memory {
  readonly heapBytes: number;
  readonly heapLimitBytes: number;
  readonly residentBytes: number;
  /** The most that was resident since the start. */
  readonly peakBytes: number;
  /** Of the container; undefined if there is no limit. */
  readonly allowedBytes: number | undefined;
}

/** Above this the next burst may end the process. */
const FULL = 0.9;
/** What was lost so long ago is no trouble of now. */
const RECENT_MS = 60_000;

const LOG_LOSS: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  EPIPE: [
    'the program that read them has ended',
    'Start bearerd again with a reader for its standard output, or with a file.',
  ],
  ENOSPC: [
    'the disk is full',
    'Make room on the disk of the log: logging then goes on by itself, without the lost lines.',
  ],
  EROFS: [
    'the disk is read-only',
    'Make the disk of the log writable: logging then goes on by itself, without the lost lines.',
  ],
  full: [
    'whatever reads them stands still, and no more can be held',
    'See why the reader of its standard output takes nothing: logging goes on when it does, without the lost lines.',
  ],
};

export function logTrouble({ lines, code, lastMs, forGood }: LogLoss, nowMs: number): Trouble {
  const [what, remedy] = LOG_LOSS[code] ?? [`writing them failed (${code})`, 'See where the log goes.'];
  return {
    subject: 'log',
    atMs: lastMs,
    sinceMs: lastMs,
    times: 1,
    what: `${lines} ${lines === 1 ? 'line' : 'lines'} of the log could not be written: ${what}. Requests don't wait for the log, and go on.`,
    remedy,
    lasts: forGood || nowMs - lastMs < RECENT_MS,
  };
}

export function pauseTrouble({ ms, endedMs }: Pause): Trouble {
  return {
    subject: 'pause',
    atMs: endedMs,
    sinceMs: endedMs,
    times: 1,
    what: `The process did not run for ${span(ms)}, until this moment: it was stopped (kill -STOP, a debugger, a frozen container), or got no CPU. Requests waited meanwhile, and it went on; a token that had ended by then was renewed before it was used.`,
    remedy: 'If that was not meant, see what stopped it, or give it more CPU.',
    lasts: false,
  };
}

/** @param bootMs the wall-clock time at zero of the monotonic clock */
export function jumpTrouble({ byMs, noticedMonoMs }: Jump, bootMs: number): Trouble {
  const noticedMs = bootMs + noticedMonoMs;
  const back = byMs < 0;
  const how = back
    ? `was set back by ${span(-byMs)}`
    : `jumped ahead by ${span(byMs)}: it was set, or the machine slept`;
  return {
    subject: 'clock',
    atMs: noticedMs,
    sinceMs: noticedMs,
    times: 1,
    what: `The machine's clock ${how}. bearerd also measures the age of tokens with a clock that can't be set, so it never uses an expired token.`,
    remedy: "If it was not meant, check the machine's time service.",
    lasts: false,
  };
}

/** Undefined while there is room. */
export function memoryTrouble(memory: Memory, nowMs: number): Trouble | undefined {
  const { heapBytes, heapLimitBytes, residentBytes, allowedBytes = Number.POSITIVE_INFINITY } = memory;
  const heapIsFull = heapBytes > heapLimitBytes * FULL;
  if (!heapIsFull && residentBytes < allowedBytes * FULL) return undefined;
  const [what, remedy] = heapIsFull
    ? [
        `The heap is nearly full (${mib(heapBytes)} of ${mib(heapLimitBytes)} MiB): bearerd ends with 134 if it needs more.`,
        'Raise --max-old-space-size (NODE_OPTIONS) or the memory of the container, or send fewer requests at once.',
      ]
    : [
        `bearerd uses ${mib(residentBytes)} of the ${mib(allowedBytes)} MiB that its container allows: the system ends it with 137 if it needs more.`,
        'Raise the memory of the container, or send fewer requests at once.',
      ];
  return { subject: 'memory', atMs: nowMs, sinceMs: nowMs, times: 1, what, remedy, lasts: true };
}

export function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
