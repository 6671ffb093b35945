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
  readonly examples: string;
  /** The unit that a bare number most likely means. */
  readonly usualUnit: string;
}

function measure({ units, examples, usualUnit }: Measure) {
  const names = units.map(([unit]) => unit).reverse();
  const shape = new RegExp(`^(\\d+)(${names.join('|')})$`);

  const format = (amount: number): string => {
    const fits = amount === 0 ? undefined : units.find(([, factor]) => amount % factor === 0);
    return fits === undefined ? `${amount}${usualUnit}` : `${amount / fits[1]}${fits[0]}`;
  };

  const parse = (text: string, { min = 0, max, off = false }: Bounds = {}): Parsed<number> => {
    if (off && text === 'off') return { value: 0 };
    const orOff = off ? ', or off' : '';
    const [, digits, unit] = shape.exec(text) ?? [];
    if (digits === undefined) {
      const bare = /^\d{1,9}$/.test(text);
      return { problem: bare ? `has no unit; write ${text}${usualUnit}` : `must be ${examples}${orOff}` };
    }
    const amount = Number(digits) * (units.find(([name]) => name === unit)?.[1] ?? 1);
    if (amount < min) return { problem: `must be at least ${format(min)}${orOff}` };
    if (amount <= (max ?? Number.MAX_SAFE_INTEGER)) return { value: amount };
    return { problem: max === undefined ? 'is too large' : `must be at most ${format(max)}${orOff}` };
  };

  return { pattern: shape.source, parse, format };
}

/** `500ms`, `10s`, `15m`, `1h` → milliseconds, and back to the shortest text that is read as the same. */
export const {
  pattern: DURATION_PATTERN,
  parse: parseDuration,
  format: formatDuration,
} = measure({
  units: [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
    ['ms', 1],
  ],
  examples: 'a whole number with a unit, such as 500ms, 10s, 15m or 1h',
  usualUnit: 's',
});

/** `512B`, `32KiB`, `1MiB`, `1GiB` → bytes, and back. */
export const {
  pattern: SIZE_PATTERN,
  parse: parseSize,
  format: formatSize,
} = measure({
  units: [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
    ['B', 1],
  ],
  examples: 'a whole number with a unit, such as 32KiB or 1MiB',
  usualUnit: 'B',
});
