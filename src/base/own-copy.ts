/**
 * The same text in memory of its own, each character a byte. A part of a string keeps all of it in memory, such as a long
 * query, for as long as the part is remembered.
 */
export function ownCopy(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}
