/**
 * One reading of a path, for us and for whatever stands behind us.
 *
 * The path that is matched is the path that is sent, byte for byte. That is safe only if no upstream can read
 * it as another path: servers decode once, twice or not at all, fold letter case, drop `;parameters`, merge
 * slashes, or take a backslash for one. So a path with anything unusual in it is read in all of these ways, and
 * what any of them makes of it has to agree with the plain reading.
 */

/** Nothing here can be read in two ways, apart from letter case: no escape, no `;`, no empty or dotted segment end. */
const PLAIN = /^(?:\/[A-Za-z0-9_~!$&'()*+,=:@-]+(?:\.+[A-Za-z0-9_~!$&'()*+,=:@-]+)*)*\/?$/;
const PLAIN_LOWER = /^(?:\/[a-z0-9_~!$&'()*+,=:@-]+(?:\.+[a-z0-9_~!$&'()*+,=:@-]+)*)*\/?$/;

/** RFC 3986 allows less; whatever HTTP parsers let through beyond it (controls, space, DEL, raw 8-bit, `#`, `\`) is refused. */
const ILLEGAL_RAW = /[^\x21-\x7e]|[#\\]/;
const MALFORMED_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const CONTROL = /[\x00-\x1f\x7f]/;

/** How often an escape may hide another one; more is nobody's honest path. */
const MAX_DECODINGS = 8;

export type PathReading =
  /** Refused: `bad-path`. */
  | { readonly ok: false }
  /**
   * `readings`: every path that an upstream could make of it, in lower case. They are what a rule that must not
   * be dodged is matched against. A plain path has one.
   */
  | { readonly ok: true; readonly readings: readonly string[] };

const REFUSED: PathReading = { ok: false };

/**
 * Reads a raw path (no query), as it stands in the request line.
 *
 * Refuses what could be a dot segment to anyone (plain, escaped up to eight deep, overlong UTF-8, full-width,
 * behind `;` or a backslash), raw or escaped control characters, a raw backslash, and malformed escapes.
 */
export function readPath(path: string): PathReading {
  if (PLAIN_LOWER.test(path)) return { ok: true, readings: [path] };
  if (PLAIN.test(path)) return { ok: true, readings: [path.toLowerCase()] };
  if (!path.startsWith('/') || ILLEGAL_RAW.test(path) || MALFORMED_ESCAPE.test(path)) return REFUSED;

  const readings = new Set<string>();
  let text = path;
  for (let depth = 0; ; depth++) {
    if (depth > MAX_DECODINGS) return REFUSED;
    for (const spelling of spellings(text)) {
      if (CONTROL.test(spelling) || hasDotSegment(spelling)) return REFUSED;
      addReadings(readings, spelling);
    }
    const decoded = decodeOnce(text, false);
    // A server may decode letters and leave an escaped slash alone.
    addReadings(readings, toText(decodeOnce(text, true)));
    if (decoded === text) break;
    text = decoded;
  }
  return { ok: true, readings: [...readings] };
}

/** The characters that a byte string may stand for: as Latin-1, as UTF-8, and with what lenient decoders make of it. */
function spellings(bytes: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes, not text
  if (!/[\x80-\xff]/.test(bytes)) return [bytes];
  const lenient = decodeOverlong(bytes);
  const utf8 = toText(lenient);
  return [bytes, lenient, utf8, utf8.normalize('NFKC')];
}

function addReadings(readings: Set<string>, spelling: string): void {
  for (const slashed of variants(spelling, (s) => s.replaceAll('\\', '/'))) {
    for (const bare of variants(slashed, withoutParameters)) {
      for (const merged of variants(bare, (s) => s.replace(/\/{2,}/g, '/'))) {
        for (const trimmed of variants(merged, (s) => s.replace(/[. ]+(?=\/|$)/g, ''))) {
          readings.add(trimmed.toLowerCase());
        }
      }
    }
  }
}

function variants(text: string, change: (text: string) => string): string[] {
  const changed = change(text);
  return changed === text ? [text] : [text, changed];
}

/** Servlet containers drop `;name=value` from each segment before they look at it. */
function withoutParameters(path: string): string {
  return path.includes(';') ? path.replace(/;[^/]*/g, '') : path;
}

/** True where some segment is `.` or `..` once parameters, backslashes and trailing blanks are seen through. */
function hasDotSegment(path: string): boolean {
  if (!path.includes('.')) return false;
  return /(?:^|[/\\])\.{1,2}[ ]*(?:;[^/\\]*)?(?=[/\\?#]|$)/.test(path);
}

/** One round of percent-decoding, to bytes (each a character up to U+00FF). A malformed escape stays as it is. */
function decodeOnce(bytes: string, keepSlashes: boolean): string {
  if (!bytes.includes('%')) return bytes;
  return bytes.replace(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return keepSlashes && (code === 0x2f || code === 0x5c) ? escape : String.fromCharCode(code);
  });
}

/**
 * What a careless UTF-8 decoder makes of overlong forms: `%c0%ae` is a dot to it (and so is `%c0%2e`, since it
 * looks at the low six bits only). RFC 3629 §3 forbids them; old servers took them.
 */
function decodeOverlong(bytes: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes, not text
  return bytes.replace(/[\xc0\xc1][\s\S]|\xe0[\s\S]{2}|\xf0[\s\S]{3}|\xf8[\s\S]{4}|\xfc[\s\S]{5}/g, (sequence) => {
    let code = sequence.length === 2 ? sequence.charCodeAt(0) & 0x1f : 0;
    for (let i = 1; i < sequence.length; i++) code = (code << 6) | (sequence.charCodeAt(i) & 0x3f);
    return code < 0x80 ? String.fromCharCode(code) : sequence;
  });
}

const UTF8 = new TextDecoder('utf-8');

/** A byte string as UTF-8 text; what is no UTF-8 becomes U+FFFD, which matches no rule. */
function toText(bytes: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes, not text
  return /[\x80-\xff]/.test(bytes) ? UTF8.decode(Buffer.from(bytes, 'latin1')) : bytes;
}

/**
 * The request target's path and query, or undefined where it is of a form that is not forwarded.
 * `authority` is there for the absolute form (RFC 9112 §3.2.2) and has to be checked like a `Host`.
 */
export function splitTarget(
  target: string,
): { readonly path: string; readonly query: string; readonly authority: string | undefined } | undefined {
  let rest = target;
  let authority: string | undefined;
  if (target.charCodeAt(0) !== 0x2f) {
    const absolute = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target);
    if (absolute === null) return undefined;
    authority = absolute[1]!;
    rest = absolute[2]!;
    if (!rest.startsWith('/')) rest = `/${rest}`;
  }
  const mark = rest.indexOf('?');
  return mark === -1
    ? { path: rest, query: '', authority }
    : { path: rest.slice(0, mark), query: rest.slice(mark), authority };
}
