/** What a JSON or JavaScript string has for a character besides `\u00xx`; any punctuation may stand behind a backslash. */
const BACKSLASHED: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
};

/** The named characters of HTML in ASCII. */
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

/**
 * The ways in which one character may come back, each character of the result a byte: as it is, percent-encoded,
 * as in a JSON string, as in HTML. Each is a way of this one character, so that a text may change from one to another.
 *
 * @param character one code point
 */
export function spellings(character: string): Set<string> {
  const bytes = Buffer.from(character, 'utf8').toString('latin1');
  const all = new Set(product([...bytes].map((byte) => [byte, ...hexOf(byte, 2).map((hex) => `%${hex}`)])));
  addEscapes(all, character);
  if (character === ' ') all.add('+'); // As in a form.
  // A program that takes a header for Latin-1, as Node does, sees a character in each byte.
  if (bytes.length > 1) for (const reading of latin1Readings(bytes)) all.add(reading);
  if (bytes.length === 2 && character <= '\xff') all.add(character);
  return all;
}

function addEscapes(all: Set<string>, character: string): void {
  const units = Array.from({ length: character.length }, (_, i) => character[i]!);
  for (const escaped of product(units.map((unit) => hexOf(unit, 4).map((hex) => `\\u${hex}`))))
    all.add(escaped);
  if (/[!-/:-@[-`{-~]/.test(character)) all.add(`\\${character}`);
  if (character in BACKSLASHED) all.add(`\\${BACKSLASHED[character]}`);
  for (const name of NAMED[character] ?? []) all.add(`&${name};`);
  const point = character.codePointAt(0)!.toString();
  for (const digits of [0, 2, 3, 4, 5]) all.add(`&#${point.padStart(digits, '0')};`);
  for (const digits of [0, 2, 4, 6]) {
    for (const hex of hexOf(character, digits)) all.add(`&#x${hex};`).add(`&#X${hex};`);
  }
}

/** All bytes written in one manner; what mixes the manners for one character is nobody's encoder. */
function* latin1Readings(bytes: string): Generator<string> {
  const characters = [...bytes];
  const utf8 = characters.map((byte) => Buffer.from(byte, 'utf8').toString('latin1'));
  yield utf8.join('');
  yield* product(characters.map((byte) => hexOf(byte, 4).map((hex) => `\\u${hex}`)));
  yield characters.map((byte) => `&#${byte.charCodeAt(0)};`).join('');
  yield* product(characters.map((byte) => hexOf(byte, 0).map((hex) => `&#x${hex};`)));
  yield* product(utf8.flatMap((pair) => [...pair].map((byte) => hexOf(byte, 2).map((hex) => `%${hex}`))));
}

/** A number in hexadecimal, each digit in either letter case. */
function hexOf(character: string, digits: number): string[] {
  const hex = character.codePointAt(0)!.toString(16).padStart(digits, '0');
  return product([...hex].map((digit) => [...new Set([digit, digit.toUpperCase()])]));
}

/** One of each, in order. */
function product(choices: readonly (readonly string[])[]): string[] {
  return choices.reduce<string[]>(
    (heads, choice) => heads.flatMap((head) => choice.map((tail) => head + tail)),
    [''],
  );
}
