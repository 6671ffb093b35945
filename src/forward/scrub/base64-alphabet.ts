import { INTRODUCERS, NOTHING } from './escapes.ts';
import { ENDS, ENDS_WITHIN_LINE } from './short-runs.ts';

/** Kinds of bytes that are no base64 character. */
const OTHER = -1;
export const LINE_BREAK = -2;
export const INDENT = -3;

/** The six bits of each base64 character, in both alphabets (RFC 4648 §4 and §5), or the kind of any other byte. */
export const SEXTETS = new Int8Array(256).fill(OTHER);
for (const alphabet of ['+/', '-_']) {
  const characters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let value = 0; value < 64; value++) SEXTETS[characters.charCodeAt(value)] = value;
}
export const LINE_FEED = 0x0a;
SEXTETS[LINE_FEED] = LINE_BREAK;
SEXTETS[0x0d] = LINE_BREAK;
SEXTETS[0x20] = INDENT;
SEXTETS[0x09] = INDENT;

/** The six bits of an escape's value, or its kind. Encoders escape only the last two characters, and line breaks. */
export function escapedSextet(value: number): number {
  if (value === NOTHING) return LINE_BREAK;
  const sextet = SEXTETS[value] ?? OTHER;
  return sextet >= 62 || sextet === LINE_BREAK ? sextet : OTHER;
}

/** Bytes that end a run, however it is broken into lines and escaped. */
export const RUN_ENDS = Uint8Array.from(SEXTETS, (kind, byte) => {
  if (kind === INDENT) return ENDS_WITHIN_LINE;
  return kind === OTHER && INTRODUCERS[byte] === 0 ? ENDS : 0;
});
// An HTML reference may hold them: `&#43;`.
for (const character of '#;') RUN_ENDS[character.charCodeAt(0)] = 0;
