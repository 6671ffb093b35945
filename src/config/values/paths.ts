import { type Faults, type Parsed, problemIn } from './kind.ts';

/** The path with its escapes decoded; undefined if they are malformed or not UTF-8. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Letters, digits and `-._~` mean the same escaped or not (RFC 3986 §2.3): a prefix must have them plain. */
function escapesUnreserved(path: string): boolean {
  return (path.match(/%[0-9A-Fa-f]{2}/g) ?? []).some((triplet) =>
    /[A-Za-z0-9._~-]/.test(String.fromCharCode(Number.parseInt(triplet.slice(1), 16))),
  );
}

/** In every spelling that a server might decode: before `;`, with blanks after it, or with full-width dots. */
function hasDotSegment(path: string): boolean {
  const text = decoded(path)?.normalize('NFKC') ?? path;
  return text.split(/[/\\]/).some((segment) => /^\.\.? *(?:;|$)/.test(segment));
}

const FAULTS: Faults = [
  [(path) => !path.startsWith('/'), 'must begin with /'],
  [(path) => /[?#]/.test(path), 'must be a path alone, without ? or #'],
  [(path) => path.includes('\\'), 'may not hold a backslash'],
  [(path) => /[^\x21-\x7e]/.test(path), 'may hold visible ASCII characters only; percent-encode the others'],
  [(path) => /%(?![0-9A-Fa-f]{2})/.test(path), 'has a % without two hexadecimal digits after it'],
  [(path) => /%(?:[01][0-9A-Fa-f]|7[Ff])/.test(path), 'may not hold an escaped control character'],
  [escapesUnreserved, 'escapes a letter, a digit or one of - . _ ~; write it plainly'],
  [
    (path) => /%(?:2[5Ff]|5[Cc]|3[Bb])/.test(path),
    'may not escape one of / \\ % ; since servers read that in two ways',
  ],
  [(path) => decoded(path) === undefined, 'has escapes that are not UTF-8'],
  [(path) => path.includes('//'), 'may not hold a doubled slash'],
  [hasDotSegment, 'may not hold . or .. as a segment'],
  [(path) => path.endsWith('/*'), 'must not end in /*; a path stands for everything below it anyway'],
];

/** An absolute path that every server reads in the same way. A trailing slash is dropped, except from `/` itself. */
export function parsePath(text: string): Parsed<string> {
  const problem = problemIn(text, FAULTS);
  return problem === undefined ? { value: text === '/' ? text : text.replace(/\/$/, '') } : { problem };
}

/** The session path: `/` would close the whole upstream, since nothing at or below it is forwarded. */
export function parseSessionPath(text: string): Parsed<string> {
  return text === '/' ? { problem: 'must be more than /' } : parsePath(text);
}
