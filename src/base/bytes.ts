/** UTF-8 text as bytes, one character for each: the form of header values, paths and bodies in this program. */
export function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * A copy of a text whose characters are bytes. A part of a string keeps the whole string in memory; a part that is kept
 * for long should not hold, say, a long query.
 */
export function ownCopy(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}
