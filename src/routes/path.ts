import { foldCase, misreadingsOf } from './misreadings.ts';

/**
 * One reading of a path, for us and for whatever stands behind us.
 *
 * The path that is matched is the path that is sent, byte for byte. That is safe only if no upstream can read
 * it as another path: servers decode once, twice or not at all, fold letter case, drop `;parameters`, merge
 * slashes, or take a backslash for one, and in any order. So a path with anything unusual in it is read in all of
 * these ways, and what any of them makes of it has to agree with the plain reading.
 */

/** Nothing here can be read in two ways, apart from letter case: no escape, no `;`, no empty or dotted segment end. */
export const PLAIN = /^(?:\/|(?:\/[A-Za-z0-9_~!$&'()*+,=:@-]+(?:\.+[A-Za-z0-9_~!$&'()*+,=:@-]+)*)+\/?)$/;
export const PLAIN_LOWER = /^(?:\/|(?:\/[a-z0-9_~!$&'()*+,=:@-]+(?:\.+[a-z0-9_~!$&'()*+,=:@-]+)*)+\/?)$/;

/** RFC 3986 allows less; whatever HTTP parsers let through beyond it (controls, space, DEL, raw 8-bit, `#`, `\`) is refused. */
const ILLEGAL_RAW = /[^\x21-\x7e]|[#\\]/;
const MALFORMED_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const CONTROL = /[\x00-\x1f\x7f]/;
/** `.` or `..`, with the blanks on both sides that some servers drop. */
const DOT_SEGMENT = /\/ *\.{1,2} *(?=\/|$)/;

/**
 * No honest path can be read in more ways than this: those that are seen in practice have two to twelve readings. Both
 * bound the time that one may take, which is linear in its length.
 */
const MAX_READINGS = 1_024;
const MAX_READINGS_OF_A_LONG_PATH = 12;
const CHARACTERS_ALWAYS_READ = 64 * 1_024;

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
 * Refuses what could be a dot segment to anyone (plain, escaped however deep, overlong UTF-8, full-width, behind
 * `;` or a backslash), raw or escaped control characters, a raw backslash, and malformed escapes.
 */
export function readPath(path: string): PathReading {
  if (PLAIN_LOWER.test(path)) return { ok: true, readings: [path] };
  if (PLAIN.test(path)) return { ok: true, readings: [path.toLowerCase()] };
  if (!path.startsWith('/') || ILLEGAL_RAW.test(path) || MALFORMED_ESCAPE.test(path)) return REFUSED;

  const readings = new Set([path]);
  let charactersLeft = CHARACTERS_ALWAYS_READ + MAX_READINGS_OF_A_LONG_PATH * path.length;
  // The set grows while it is walked over: what a server makes of a path, the next one may misread again.
  for (const reading of readings) {
    charactersLeft -= reading.length;
    if (readings.size > MAX_READINGS || charactersLeft < 0) return REFUSED;
    if (CONTROL.test(reading) || DOT_SEGMENT.test(reading)) return REFUSED;
    for (const misread of misreadingsOf(reading)) readings.add(misread(reading) || '/');
  }
  return { ok: true, readings: [...new Set([...readings].map(foldCase))] };
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
  // A fragment is no part of a target (RFC 9112 §3.2), and servers differ in what they do with one.
  if (rest.includes('#')) return undefined;
  const mark = rest.indexOf('?');
  return mark === -1
    ? { path: rest, query: '', authority }
    : { path: rest.slice(0, mark), query: rest.slice(mark), authority };
}
