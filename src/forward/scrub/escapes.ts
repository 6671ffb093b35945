/** The named character references of HTML for ASCII. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  '\t': ['Tab'],
  '\n': ['NewLine'],
  '!': ['excl'],
  '"': ['quot', 'QUOT'],
  '#': ['num'],
  $: ['dollar'],
  '%': ['percnt'],
  '&': ['amp', 'AMP'],
  "'": ['apos'],
  '(': ['lpar'],
  ')': ['rpar'],
  '*': ['ast', 'midast'],
  '+': ['plus'],
  ',': ['comma'],
  '.': ['period'],
  '/': ['sol'],
  ':': ['colon'],
  ';': ['semi'],
  '<': ['lt', 'LT'],
  '=': ['equals'],
  '>': ['gt', 'GT'],
  '?': ['quest'],
  '@': ['commat'],
  '[': ['lsqb', 'lbrack'],
  '\\': ['bsol'],
  ']': ['rsqb', 'rbrack'],
  '^': ['Hat'],
  _: ['lowbar', 'UnderBar'],
  '`': ['grave', 'DiacriticalGrave'],
  '{': ['lcub', 'lbrace'],
  '|': ['verbar', 'vert', 'VerticalLine'],
  '}': ['rcub', 'rbrace'],
};
const CHARACTERS = new Map(
  Object.entries(NAMED).flatMap(([character, names]) =>
    names.map((name): [string, number] => [name, character.charCodeAt(0)]),
  ),
);
const LONGEST_NAME = Math.max(...[...CHARACTERS.keys()].map(({ length }) => length));
/** A numeric reference may have any number of leading zeros; no writer makes more digits than this. */
const MAX_DIGITS = 32;

/** No escape begins here. */
export const NONE = 0;
/** The text ends before it is certain whether an escape begins here, and where it ends. */
const UNFINISHED = -1;
/** No unfinished escape is longer. */
const LONGEST_UNFINISHED = 3 + MAX_DIGITS;
/** The value of an escape that stands for no character: a line break of quoted-printable. */
export const NOTHING = -1;

const LENGTH_BITS = 6;
/** Marks a value as a code point, which stands for its bytes in UTF-8; otherwise the value is a byte. */
const CODE_POINT = 1 << 21;
/** Marks a value that is a byte for one language, and a code point for another. */
const EITHER = 1 << 22;
const LAST_CODE_POINT = 0x10ffff;

/** Bytes that may begin an escape. */
export const INTRODUCERS = new Uint8Array(256);
for (const character of '%\\&=') INTRODUCERS[character.charCodeAt(0)] = 1;

/** The value of a hexadecimal digit; -1 for other bytes. */
export const HEX = new Int8Array(256).fill(-1);
for (let value = 0; value < 16; value++) {
  HEX[value.toString(16).charCodeAt(0)] = value;
  HEX[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}

/** Control characters in a JSON or JavaScript string, by the letter after the backslash. */
const CONTROLS = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(([letter, control]) => [
    letter.charCodeAt(0),
    control.charCodeAt(0),
  ]),
);

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const HASH = 0x23;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;
const CR = 0x0d;
const LF = 0x0a;

const SINGLE_BYTES: readonly (readonly number[])[] = Array.from({ length: 256 }, (_, byte) => [byte]);
const NO_BYTES: readonly number[] = [];

/** The length of an escape in bytes. @param found a result of `escapeAt` */
export const lengthIn = (found: number): number => found & ((1 << LENGTH_BITS) - 1);

/** The bytes that an escape stands for: one, up to four for a code point, none for a line break of quoted-printable. */
export function bytesIn(found: number): readonly number[] {
  const value = valueIn(found);
  if (value === NOTHING) return NO_BYTES;
  return (value & CODE_POINT) === 0 ? SINGLE_BYTES[value & 0xff]! : utf8(value & ~CODE_POINT);
}

/** True if the escape may also stand for `otherBytesIn`. Compared as it is packed: most escapes have only one meaning. */
export const hasOtherBytes = (found: number): boolean => found > EITHER << LENGTH_BITS;

export const otherBytesIn = (found: number): readonly number[] => utf8(valueIn(found) & 0xff);

const utf8 = (point: number): readonly number[] => [...Buffer.from(String.fromCodePoint(point), 'utf8')];

/** The byte that an escape stands for; `NOTHING`; or more than 255 for a code point beyond ASCII. */
export const valueIn = (found: number): number => (found >> LENGTH_BITS) - 1;

/**
 * Finds the escape that begins at a place: percent-encoding, or one of a JSON or JavaScript string, of HTML, or of
 * quoted-printable with its line breaks (RFC 2045 §6.7).
 *
 * @param final no more bytes follow
 * @returns `NONE`, `UNFINISHED` (never if `final`), or a number for `lengthIn`, `valueIn` and `bytesIn`
 */
export function escapeAt(bytes: Uint8Array, at: number, final: boolean): number {
  switch (bytes[at]) {
    case PERCENT:
      return byteAt(bytes, at, 1, final);
    case EQUALS:
      return quotedPrintable(bytes, at, final);
    case BACKSLASH:
      return backslashed(bytes, at, final);
    case AMPERSAND:
      return reference(bytes, at, final);
    default:
      return NONE;
  }
}

const packed = (length: number, value: number): number => ((value + 1) << LENGTH_BITS) | length;
const codePoint = (length: number, point: number): number =>
  packed(length, point < 0x80 ? point : point | CODE_POINT);
const unfinished = (final: boolean): number => (final ? NONE : UNFINISHED);

/** Reads two hexadecimal digits after `skip` bytes. */
function byteAt(bytes: Uint8Array, at: number, skip: number, final: boolean): number {
  const value = hexAt(bytes, at + skip, 2);
  if (value === UNFINISHED) return unfinished(final);
  return value < 0 ? NONE : packed(skip + 2, value);
}

/** The value of so many digits; `UNFINISHED` if the text ends before, and less if there is another character. */
function hexAt(bytes: Uint8Array, at: number, digits: number): number {
  let value = 0;
  for (let place = at; place < at + digits; place++) {
    if (place >= bytes.length) return UNFINISHED;
    const digit = HEX[bytes[place]!]!;
    if (digit < 0) return UNFINISHED - 1;
    value = (value << 4) | digit;
  }
  return value;
}

function quotedPrintable(bytes: Uint8Array, at: number, final: boolean): number {
  const next = bytes[at + 1];
  if (next === LF) return packed(2, NOTHING);
  if (next !== CR) return byteAt(bytes, at, 1, final);
  if (at + 2 >= bytes.length) return unfinished(final);
  return bytes[at + 2] === LF ? packed(3, NOTHING) : NONE;
}

function backslashed(bytes: Uint8Array, at: number, final: boolean): number {
  const next = bytes[at + 1];
  if (next === undefined) return unfinished(final);
  if (next === 0x78) return byteOrCodePoint(byteAt(bytes, at, 2, final)); // `\x`
  if (next === 0x75) return unicode(bytes, at, final); // `\u`
  if (next === 0x55) return longUnicode(bytes, at, final); // `\U`
  const control = CONTROLS.get(next);
  if (control !== undefined) return packed(2, control);
  return isPunctuation(next) ? packed(2, next) : NONE;
}

/** JavaScript writes a code point as `\xNN`, C and Go a byte, Python either, in texts and in bytes. */
function byteOrCodePoint(found: number): number {
  const value = valueIn(found);
  return found > NONE && value >= 0x80 ? packed(lengthIn(found), value | EITHER) : found;
}

const isPunctuation = (byte: number): boolean =>
  byte > 0x20 && byte < 0x7f && !isDigit(byte) && !isLetter(byte);
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
export const isLetter = (byte: number | undefined): boolean =>
  byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

function unicode(bytes: Uint8Array, at: number, final: boolean): number {
  const unit = hexAt(bytes, at + 2, 4);
  if (unit === UNFINISHED) return unfinished(final);
  if (unit < 0 || (unit & 0xfc00) === 0xdc00) return NONE;
  if ((unit & 0xfc00) !== 0xd800) return codePoint(6, unit);
  if (bytes.length < at + 12 && !final) return UNFINISHED;
  const low = bytes[at + 6] === BACKSLASH && bytes[at + 7] === 0x75 ? hexAt(bytes, at + 8, 4) : -1;
  if (low < 0 || (low & 0xfc00) !== 0xdc00) return NONE;
  return codePoint(12, 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff));
}

/** Eight digits, as Python and Go write a code point beyond 16 bits. */
function longUnicode(bytes: Uint8Array, at: number, final: boolean): number {
  const [high, low] = [hexAt(bytes, at + 2, 4), hexAt(bytes, at + 6, 4)];
  if (high === UNFINISHED || (high >= 0 && low === UNFINISHED)) return unfinished(final);
  if (high < 0 || low < 0) return NONE;
  const point = (high << 16) | low;
  return high > 0x10 || (point & 0x1ff800) === 0xd800 ? NONE : codePoint(10, point);
}

function reference(bytes: Uint8Array, at: number, final: boolean): number {
  return bytes[at + 1] === HASH ? numeric(bytes, at, final) : named(bytes, at, final);
}

/** The `;` may be missing, as in browsers: the reference then ends after the last digit that makes a value in ASCII. */
function numeric(bytes: Uint8Array, at: number, final: boolean): number {
  const isHex = ((bytes[at + 2] ?? 0) | 0x20) === 0x78;
  const [base, from] = isHex ? [16, at + 3] : [10, at + 2];
  let place = from;
  let point = 0;
  let ascii = { end: from, point: 0 };
  for (; place < from + MAX_DIGITS; place++) {
    const digit = place < bytes.length ? HEX[bytes[place]!]! : -1;
    if (digit < 0 || digit >= base) break;
    point = Math.min(point * base + digit, LAST_CODE_POINT + 1);
    if (point < 0x80) ascii = { end: place + 1, point };
  }
  if (place >= bytes.length && !final) return UNFINISHED;
  if (place === from) return NONE;
  if (bytes[place] !== SEMICOLON) return packed(ascii.end - at, ascii.point);
  return point > LAST_CODE_POINT || (point & 0x1ff800) === 0xd800 ? NONE : codePoint(place + 1 - at, point);
}

function named(bytes: Uint8Array, at: number, final: boolean): number {
  let end = at + 1;
  while (end <= at + LONGEST_NAME && isLetter(bytes[end])) end++;
  if (end >= bytes.length && !final) return UNFINISHED;
  if (end < at + 3) return NONE;
  const letters = String.fromCharCode(...bytes.subarray(at + 1, end));
  for (let length = letters.length; length > 1; length--) {
    const character = CHARACTERS.get(letters.slice(0, length));
    if (character === undefined) continue;
    return packed(1 + length + (bytes[at + 1 + length] === SEMICOLON ? 1 : 0), character);
  }
  return NONE;
}

/** Where the first escape begins that the end of the text cuts; the length of the text if it cuts none. */
export function unfinishedFrom(bytes: Uint8Array): number {
  for (let at = Math.max(0, bytes.length - LONGEST_UNFINISHED); at < bytes.length; at++) {
    if (INTRODUCERS[bytes[at]!] === 1 && escapeAt(bytes, at, false) === UNFINISHED) return at;
  }
  return bytes.length;
}
