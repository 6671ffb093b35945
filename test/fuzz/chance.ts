import { randomFrom } from '../support/random.ts';

/** Everything that a case leaves to chance comes from here, and so from its seed. */
export class Chance {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** A whole number below `n`. */
  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  /** True in so many cases of one. */
  odds(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** Mostly the first, at the given odds one of the others. */
  mostly<T>(usual: T, odds: number, others: readonly T[]): T {
    return this.odds(odds) ? this.pick(others) : usual;
  }

  some<T>(from: readonly T[], most: number): T[] {
    return Array.from({ length: this.below(most + 1) }, () => this.pick(from));
  }

  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [items[i], items[j]] = [items[j]!, items[i]!];
    }
    return items;
  }
}

const BYTES = [0, 1, 9, 10, 13, 32, 34, 35, 37, 44, 45, 46, 47, 48, 58, 59, 63, 92, 127, 128, 133, 160, 255];
const WORDS = [
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '\r',
  ': ',
  '%00',
  '%0d%0a',
  '../',
  '\0',
  '0\r\n\r\n',
  '\u00e9',
  '{',
  '"',
];

/** One change of some bytes. */
function mutateOnce(bytes: Buffer, chance: Chance): Buffer {
  const at = chance.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + chance.below(chance.odds(0.8) ? 4 : 40));
  const [before, middle, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
  switch (chance.below(7)) {
    case 0:
      return Buffer.concat([before, after]);
    case 1:
      return Buffer.concat([before, middle, middle, after]);
    case 2:
      return Buffer.concat([before, Buffer.from([chance.pick(BYTES)]), middle, after]);
    case 3:
      return Buffer.concat([before, Buffer.from(chance.pick(WORDS), 'latin1'), middle, after]);
    case 4:
      return Buffer.concat([
        before,
        Buffer.from([chance.pick(BYTES)]),
        bytes.subarray(Math.min(bytes.length, at + 1)),
      ]);
    case 5:
      return Buffer.concat([before, middle.map((byte) => byte ^ (1 << chance.below(8))), after]);
    default:
      return Buffer.concat([before, after.subarray(0, 20), middle, after.subarray(20)]);
  }
}

export function mutate(bytes: Buffer, chance: Chance, most = 3): Buffer {
  let result = bytes;
  for (let n = 1 + chance.below(most); n > 0; n--) result = mutateOnce(result, chance);
  return result;
}

/** The same bytes in pieces, as TCP may deliver them. */
export function split(bytes: Buffer, chance: Chance, most = 4): Buffer[] {
  const cuts = Array.from({ length: chance.below(most) }, () => chance.below(bytes.length + 1));
  const ends = [...cuts, bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}
