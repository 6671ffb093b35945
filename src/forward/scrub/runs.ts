/** Bytes that no encoded credential holds, and that so end a run: white space, control characters, quotes, `<`. */
const BREAKS = new Uint8Array(256).fill(1, 0, 0x21);
for (const character of '"\'<') BREAKS[character.charCodeAt(0)] = 1;

const LF = 0x0a;
const CR = 0x0d;
const EQUALS = 0x3d;

/** The bytes that end a run, without a quote or `<` that a credential holds. White space always ends one: all text has it. */
export function breaksFor(isInSecret: (byte: number) => boolean): Uint8Array {
  return BREAKS.map((is, byte) => (is === 1 && (byte <= 0x20 || !isInSecret(byte)) ? 1 : 0));
}

/** The position of the last byte that ends a run; -1 if there is none. */
export function lastBreak(bytes: Uint8Array, breaks: Uint8Array): number {
  let at = bytes.length - 1;
  while (at >= 0) {
    if (breaks[bytes[at]!] === 0) at--;
    else if (isSoft(bytes, at)) at--;
    else return at;
  }
  return -1;
}

/** True for a byte of a quoted-printable line break, which doesn't end a run (RFC 2045 §6.7). */
function isSoft(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] === CR) return bytes[at - 1] === EQUALS && (bytes[at + 1] ?? LF) === LF;
  if (bytes[at] !== LF) return false;
  return bytes[bytes[at - 1] === CR ? at - 2 : at - 1] === EQUALS;
}
