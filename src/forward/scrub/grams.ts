import type { Pattern } from './patterns.ts';
import type { Unit } from './unit.ts';

/** Bytes that are looked at together. */
export const GRAM_BYTES = 4;

/** Parts of a unit's spellings by their length up to a gram's, each packed with its first byte lowest. */
interface Parts {
  /** Whole spellings that are shorter than a gram. */
  readonly whole: readonly number[][];
  /** What spellings of at least this length begin with. */
  readonly heads: readonly number[][];
  /** What spellings end with; of a gram's length, what stands anywhere in one. */
  readonly tails: readonly number[][];
}

const known = new WeakMap<Unit, Parts>();

/** All four bytes in a row that a match may hold; some of them more than once. */
export function gramsOf(pattern: Pattern): number[] {
  const grams: number[] = [];
  let after: number[][] = [[0], [], [], [], []];
  // From the end, so that what may follow a unit is there when it is its turn.
  for (const unit of pattern.toReversed()) {
    const { tails } = partsOf(unit);
    for (let length = 1; length <= GRAM_BYTES; length++)
      join(tails[length]!, length, after, GRAM_BYTES, grams);
    after = before(partsOf(unit), after);
  }
  return grams;
}

/** What may begin at a unit, by length. @param after what may begin behind it */
function before({ whole, heads }: Parts, after: readonly number[][]): number[][] {
  return heads.map((head, length) => {
    const all = length === 0 ? [0] : [...head];
    for (let own = 1; own < length; own++) join(whole[own]!, own, after, length, all);
    return all;
  });
}

/** @param length of the heads; @param total of the results */
function join(
  heads: readonly number[],
  length: number,
  after: readonly number[][],
  total: number,
  into: number[],
) {
  for (const tail of after[total - length]!) {
    for (const head of heads) into.push(head | (tail << (8 * length)));
  }
}

function partsOf(unit: Unit): Parts {
  let parts = known.get(unit);
  if (parts === undefined) {
    const spellings = [...spelled(unit)];
    const cut = (of: (bytes: number[], length: number) => number[][]) =>
      Array.from({ length: GRAM_BYTES + 1 }, (_, length) => [
        ...new Set(spellings.flatMap((bytes) => of(bytes, length)).map(pack)),
      ]);
    parts = {
      whole: cut((bytes, length) => (bytes.length === length ? [bytes] : [])),
      heads: cut((bytes, length) => (bytes.length >= length ? [bytes.slice(0, length)] : [])),
      tails: cut((bytes, length) => {
        if (length === GRAM_BYTES) return bytes.map((_, at) => bytes.slice(at, at + length)).filter(isGram);
        return bytes.length >= length ? [bytes.slice(bytes.length - length)] : [];
      }),
    };
    known.set(unit, parts);
  }
  return parts;
}

function* spelled(unit: Unit, begun: number[] = []): Generator<number[]> {
  if (unit.ends) yield begun;
  for (const [byte, below] of unit.next) yield* spelled(below, [...begun, byte]);
}

const isGram = (bytes: number[]) => bytes.length === GRAM_BYTES;

function pack(bytes: number[]): number {
  return bytes.reduce((packed, byte, at) => packed | (byte << (8 * at)), 0);
}
