import { foldCase, misreadingsOf } from './misreadings.ts';

/**
 * How bearerd and the servers behind it may read a path.
 *
 * The path that is matched is sent byte for byte. That is safe only if no upstream reads it as another path. Servers
 * decode a path once, twice or not at all; they fold letter case, drop `;parameters`, merge slashes or read a backslash
 * as a slash, in any order. So a path with anything unusual is read in all of these ways, and each reading must lead to
 * the same route as the plain one.
 */

/** Paths with one reading, apart from letter case: no escape, no `;`, no empty segment, no dot at the end of a segment. */
export const PLAIN = /^(?:\/|(?:\/[A-Za-z0-9_~!$&'()*+,=:@-]+(?:\.+[A-Za-z0-9_~!$&'()*+,=:@-]+)*)+\/?)$/;
export const PLAIN_LOWER = /^(?:\/|(?:\/[a-z0-9_~!$&'()*+,=:@-]+(?:\.+[a-z0-9_~!$&'()*+,=:@-]+)*)+\/?)$/;

/** Beyond RFC 3986, HTTP parsers accept controls, space, DEL, raw 8-bit characters, `#` and `\`: these are refused. */
const ILLEGAL_RAW = /[^\x21-\x7e]|[#\\]/;
const MALFORMED_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const CONTROL = /[\x00-\x1f\x7f]/;
/** `.` or `..`, with the blanks around it that some servers drop. */
const DOT_SEGMENT = /\/ *\.{1,2} *(?=\/|$)/;

/**
 * Limits on the number of readings. Paths in practice have two to twelve readings. Together the limits keep the time
 * for a path linear in its length.
 */
const MAX_READINGS = 1_024;
const MAX_READINGS_OF_A_LONG_PATH = 12;
const CHARACTERS_ALWAYS_READ = 64 * 1_024;

type PathReading =
  /** Refused: `bad-path`. */
  | { readonly ok: false }
  /** `readings`: every path that an upstream could read it as, in lower case. A plain path has one. */
  | { readonly ok: true; readonly readings: readonly string[] };

const REFUSED: PathReading = { ok: false };

/**
 * Reads a raw path (without query), as it stands in the request line.
 *
 * Refuses a path that any server could read with a dot segment (plain, escaped however deep, in overlong UTF-8,
 * full-width, behind `;` or a backslash), raw or escaped control characters, a raw backslash, and malformed escapes.
 */
export function readPath(path: string): PathReading {
  if (PLAIN_LOWER.test(path)) return { ok: true, readings: [path] };
  if (PLAIN.test(path)) return { ok: true, readings: [path.toLowerCase()] };
  if (!path.startsWith('/') || ILLEGAL_RAW.test(path) || MALFORMED_ESCAPE.test(path)) return REFUSED;

  const readings = new Set([path]);
  let charactersLeft = CHARACTERS_ALWAYS_READ + MAX_READINGS_OF_A_LONG_PATH * path.length;
  // The set grows while the loop runs: the next misreading may change what the last one has made.
  for (const reading of readings) {
    charactersLeft -= reading.length;
    if (readings.size > MAX_READINGS || charactersLeft < 0) return REFUSED;
    if (CONTROL.test(reading) || DOT_SEGMENT.test(reading)) return REFUSED;
    for (const misread of misreadingsOf(reading)) readings.add(misread(reading) || '/');
  }
  return { ok: true, readings: [...new Set([...readings].map(foldCase))] };
}

/**
 * Path and query of a request target; undefined for a form that is not forwarded. `authority` belongs to the absolute
 * form (RFC 9112 §3.2.2) and must be checked like a `Host`.
 */
export function splitTarget(
  target: string,
): { readonly path: string; readonly query: string; readonly authority: string | undefined } | undefined {
  let rest = target;
  let authority: string | undefined;
  if (target.charCodeAt(0) !== 0x2f) {
    const absolute = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target);
    if (absolute === null) return undefined;
    const [, host, tail = ''] = absolute;
    authority = host;
    rest = tail.startsWith('/') ? tail : `/${tail}`;
  }
  // A target has no fragment (RFC 9112 §3.2), and servers differ in how they treat one.
  if (rest.includes('#')) return undefined;
  const mark = rest.indexOf('?');
  return mark === -1
    ? { path: rest, query: '', authority }
    : { path: rest.slice(0, mark), query: rest.slice(mark), authority };
}

/** Path and query of a target in origin form; the query has its `?`, and is empty if there is none. */
export function splitQuery(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark) };
}
