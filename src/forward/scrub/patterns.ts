import { spellings } from './spellings.ts';
import { type Unit, unitOf } from './unit.ts';

/** What is looked for: one unit after another. */
export type Pattern = readonly Unit[];

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** The last two in both alphabets (RFC 4648 §4 and §5), which encoders around this one escape. */
const BASE64_LAST = [
  [...spellings('+'), '-'],
  [...spellings('/'), '_'],
];
const units = new Map<string, Unit>();

/**
 * All that one value may look like when it comes back: character by character in any mixture of escapes, within
 * base64 at each of the three places that it may have in a group, and in hexadecimal.
 *
 * @param value each character a byte; not empty
 */
export function patternsOf(value: string): Pattern[] {
  const bytes = Buffer.from(value, 'latin1');
  return [
    [...bytes.toString('utf8')].map((character) => unit(`c${character}`, () => spellings(character))),
    ...[0, 1, 2].map((before) => base64(bytes, before)),
    [...bytes.toString('hex')].map((digit) => unit(`h${digit}`, () => [digit, digit.toUpperCase()])),
  ];
}

/** Units depend on no secret but its characters one by one: they are made once for all. */
function unit(key: string, of: () => Iterable<string>): Unit {
  let known = units.get(key);
  if (known === undefined) {
    known = unitOf(of());
    units.set(key, known);
  }
  return known;
}

/** @param before bytes that stand before it in its group of three: unknown, as are those behind it */
function base64(bytes: Buffer, before: number): Pattern {
  const from = before * 8;
  const to = from + bytes.length * 8;
  const pattern: Unit[] = [];
  for (let at = Math.floor(from / 6) * 6; at < to; at += 6) {
    let known = '';
    for (let bit = at; bit < at + 6; bit++) {
      const index = (bit >> 3) - before;
      known += bit < from || bit >= to ? '?' : (bytes[index]! >> (7 - (bit & 7))) & 1;
    }
    pattern.push(unit(`b${known}`, () => base64Characters(known)));
  }
  return pattern;
}

/** @param known six bits, `?` for any */
function base64Characters(known: string): string[] {
  const fits = (value: number) =>
    [...value.toString(2).padStart(6, '0')].every((bit, i) => known[i] === '?' || known[i] === bit);
  return Array.from({ length: 64 }, (_, value) => value)
    .filter(fits)
    .flatMap((value) => BASE64[value] ?? BASE64_LAST[value - 62]!);
}
