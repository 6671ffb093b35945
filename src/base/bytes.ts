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

/** True for the code of a blank or a tab, which may stand around a header's value (OWS, RFC 9110 §5.6.3). */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** A header's value without the blanks around it. `trim` would also take byte A0, the end of `à` in UTF-8. */
export function withoutBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  return value.slice(start, end);
}
