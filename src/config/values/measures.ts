import type { Parsed } from './kind.ts';

/** Limits of a measure, in its smallest unit (milliseconds, bytes). `off` allows that word, which means 0. */
export interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly off?: boolean;
}

interface Measure {
  /** Largest unit first, which is the order that formatting needs. */
  readonly units: readonly (readonly [unit: string, factor: number])[];
  readonly shape: RegExp;
  readonly examples: string;
  /** The unit that a bare number most likely means. */
  readonly usualUnit: string;
}

const DURATION: Measure = {
  units: [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
    ['ms', 1],
  ],
  shape: /^(\d+)(ms|s|m|h)$/,
  examples: 'a whole number with a unit, such as 500ms, 10s, 15m or 1h',
  usualUnit: 's',
};

const SIZE: Measure = {
  units: [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
    ['B', 1],
  ],
  shape: /^(\d+)(B|KiB|MiB|GiB)$/,
  examples: 'a whole number with a unit, such as 32KiB or 1MiB',
  usualUnit: 'B',
};

export const DURATION_PATTERN = DURATION.shape.source;
export const SIZE_PATTERN = SIZE.shape.source;

function format(amount: number, { units, usualUnit }: Measure): string {
  const fits = amount === 0 ? undefined : units.find(([, factor]) => amount % factor === 0);
  return fits === undefined ? `${amount}${usualUnit}` : `${amount / fits[1]}${fits[0]}`;
}

function parse(text: string, measure: Measure, { min = 0, max, off = false }: Bounds): Parsed<number> {
  if (off && text === 'off') return { value: 0 };
  const orOff = off ? ', or off' : '';
  const [, digits, unit] = measure.shape.exec(text) ?? [];
  if (digits === undefined) {
    const bare = /^\d{1,9}$/.test(text);
    return {
      problem: bare
        ? `has no unit; write ${text}${measure.usualUnit}`
        : `must be ${measure.examples}${orOff}`,
    };
  }
  const amount = Number(digits) * (measure.units.find(([name]) => name === unit)?.[1] ?? 1);
  if (amount < min) return { problem: `must be at least ${format(min, measure)}${orOff}` };
  const largest = max ?? Number.MAX_SAFE_INTEGER;
  if (amount > largest)
    return {
      problem: max === undefined ? 'is too large' : `must be at most ${format(max, measure)}${orOff}`,
    };
  return { value: amount };
}

/** `500ms`, `10s`, `15m`, `1h` → milliseconds. */
export function parseDuration(text: string, bounds: Bounds = {}): Parsed<number> {
  return parse(text, DURATION, bounds);
}

/** Milliseconds → the shortest text that `parseDuration` reads as the same. */
export function formatDuration(ms: number): string {
  return format(ms, DURATION);
}

/** `512B`, `32KiB`, `1MiB`, `1GiB` → bytes. */
export function parseSize(text: string, bounds: Bounds = {}): Parsed<number> {
  return parse(text, SIZE, bounds);
}

/** Bytes → the shortest text that `parseSize` reads as the same. */
export function formatSize(bytes: number): string {
  return format(bytes, SIZE);
}
