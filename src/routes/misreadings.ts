import { asBytes } from '../base/bytes.ts';

/**
 * How a server may change a path before it uses it. Each function does one such change, and returns its argument if
 * there is nothing to change. All work on byte strings: one character for each byte, U+0000 to U+00FF.
 */
type Misreading = (bytes: string) => string;

const NON_ASCII = /[\x80-\xff]/;
/** U+FFFD stands for bytes that are not UTF-8. */
const INVISIBLE = /[\ufffd\p{Default_Ignorable_Code_Point}]/gu;

/** Decodes percent-escapes once. Leaves a malformed escape as it is. */
export const decode: Misreading = (bytes) => percentDecode(bytes, false);

/** Like `decode`, in a server that does not decode escaped slashes. */
const decodeAllButSlashes: Misreading = (bytes) => percentDecode(bytes, true);

/** `%u002e`, which IIS decodes. Occurs only inside another escape: a raw `%u` is malformed and refused before. */
const decodeUnicodeEscapes: Misreading = (bytes) =>
  bytes.includes('%u') || bytes.includes('%U')
    ? bytes.replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => {
        const code = Number.parseInt(hex, 16);
        return code < 0x80 ? String.fromCharCode(code) : asBytes(String.fromCharCode(code));
      })
    : bytes;

/**
 * Overlong UTF-8, which RFC 3629 §3 forbids and careless decoders accept: they read `%c0%ae` as a dot, and also
 * `%c0%2e`, because they use the low six bits only.
 */
const decodeOverlong: Misreading = (bytes) =>
  bytes.replace(/[\xc0\xc1].|\xe0.{2}|\xf0.{3}|\xf8.{4}|\xfc.{5}/gs, (sequence) => {
    let code = sequence.length === 2 ? sequence.charCodeAt(0) & 0x1f : 0;
    for (let i = 1; i < sequence.length; i++) code = (code << 6) | (sequence.charCodeAt(i) & 0x3f);
    // Without this condition every other Latin-1 text would decode to control characters.
    const honest = /^.[\x80-\xbf]+$/s.test(sequence);
    return code < 0x80 && (honest || code >= 0x20) ? String.fromCharCode(code) : sequence;
  });

/** Unicode compatibility forms: a full-width dot becomes a dot, a ligature its letters. */
const foldCompatibility: Misreading = (bytes) => asBytes(toText(bytes).normalize('NFKC'));

/** Some decoders skip bytes that are not UTF-8, and some file systems skip invisible characters. */
const withoutInvisible: Misreading = (bytes) => asBytes(toText(bytes).replace(INVISIBLE, ''));

const backslashesAsSlashes: Misreading = (bytes) => bytes.replaceAll('\\', '/');

/** Servlet containers remove `;name=value` from each segment. */
const withoutParameters: Misreading = (bytes) => (bytes.includes(';') ? bytes.replace(/;[^/]*/g, '') : bytes);

const mergeSlashes: Misreading = (bytes) => (bytes.includes('//') ? bytes.replace(/\/{2,}/g, '/') : bytes);

/** Resolved against a base URL, `//host/path` is a network-path reference (RFC 3986 §4.2). So is `///host`, to some. */
const withoutAuthority: Misreading = (bytes) =>
  bytes.startsWith('//') ? bytes.replace(/^\/{2,}[^/]*/, '') : bytes;

/** Windows drops dots and blanks at the end of a name. The lookbehind keeps the time linear in the length of a run. */
const withoutTrailingDots: Misreading = (bytes) =>
  /[. ](?:\/|$)/.test(bytes) ? bytes.replace(/(?<![. ])[. ]+(?=\/|$)/g, '') : bytes;

/** Servers that trim names drop leading blanks, too. */
const withoutLeadingBlanks: Misreading = (bytes) =>
  bytes.includes('/ ') ? bytes.replace(/\/ +/g, '/') : bytes;

/** Some servers decode an escaped `?` or `#` and then cut the path there. */
const withoutQuery: Misreading = (bytes) => {
  const end = bytes.search(/[?#]/);
  return end === -1 ? bytes : bytes.slice(0, end);
};

const OF_ASCII: readonly Misreading[] = [
  decode,
  decodeAllButSlashes,
  decodeUnicodeEscapes,
  backslashesAsSlashes,
  withoutParameters,
  mergeSlashes,
  withoutAuthority,
  withoutTrailingDots,
  withoutLeadingBlanks,
  withoutQuery,
];

const OF_ANY = [...OF_ASCII, decodeOverlong, foldCompatibility, withoutInvisible];

/** The misreadings that may change this path. */
export function misreadingsOf(bytes: string): readonly Misreading[] {
  return NON_ASCII.test(bytes) ? OF_ANY : OF_ASCII;
}

/** Folds all letter cases into one. By way of upper case, because some servers read `ı` and `ſ` as `I` and `S`. */
export function foldCase(bytes: string): string {
  if (!NON_ASCII.test(bytes)) return bytes.toLowerCase();
  const folded = toText(bytes).toUpperCase().toLowerCase();
  return asBytes(folded.replaceAll('i\u0307', 'i')); // `İ` becomes these two; servers that fold by character drop the dot.
}

function percentDecode(bytes: string, keepSlashes: boolean): string {
  if (!bytes.includes('%')) return bytes;
  const from = Buffer.from(bytes, 'latin1');
  let length = 0;
  for (let i = 0; i < from.length; i++, length++) {
    const code = from[i] === 0x25 ? 16 * hexDigit(from[i + 1]) + hexDigit(from[i + 2]) : Number.NaN;
    if (Number.isNaN(code) || (keepSlashes && (code === 0x2f || code === 0x5c))) {
      from[length] = from[i]!;
    } else {
      from[length] = code;
      i += 2;
    }
  }
  return from.toString('latin1', 0, length);
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return Number.NaN;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes that are not UTF-8 become U+FFFD, which matches no rule. */
function toText(bytes: string): string {
  return UTF8.decode(Buffer.from(bytes, 'latin1'));
}
