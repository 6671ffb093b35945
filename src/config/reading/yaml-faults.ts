import type { ErrorCode } from 'yaml';
import { brokenPlaceholder } from '../values/placeholders.ts';

/** In place of the parser's messages, which quote the line and with it a secret. */
const PROBLEMS: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) has a tag or an anchor; put a value that begins with * in quotes',
  BAD_ALIAS: 'a value begins with & or *, which needs quotes',
  BAD_COLLECTION_TYPE: 'a !tag does not fit its value; put a value that begins with ! in quotes',
  BAD_DIRECTIVE: 'a line begins with %, which needs quotes',
  BAD_DQ_ESCAPE: 'a backslash in double quotes begins no known escape; use single quotes',
  BAD_INDENT: 'the indentation fits nothing above it, or a bracket is not closed',
  BAD_PROP_ORDER: 'an anchor (&name) or a !tag stands where none can',
  BAD_SCALAR_START: 'a value begins with a character that needs quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a second key stands where a value is expected; put a value with ": " in it in quotes',
  BLOCK_IN_FLOW: 'a list or a map with line ends stands within brackets; use brackets there, too',
  DUPLICATE_KEY: 'a key stands twice in the same map',
  IMPOSSIBLE: 'this is not valid YAML',
  KEY_OVER_1024_CHARS: 'a key is too long: a quote, a comma or a line end is missing before its colon',
  MISSING_CHAR: 'a quote, a bracket, a colon or a comma is missing',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing, or the space after one: a key goes on in the next line',
  MULTIPLE_ANCHORS: 'two anchors (&name) stand together; put a value that begins with & in quotes',
  MULTIPLE_DOCS: 'a second document begins; a configuration is one document',
  MULTIPLE_TAGS: 'two tags stand together; put a value that begins with ! in quotes',
  NON_STRING_KEY: 'a key is not plain text',
  RESOURCE_EXHAUSTION: 'brackets are nested too deeply',
  TAB_AS_INDENT: 'a tab indents the line; use spaces',
  TAG_RESOLVE_FAILED: 'a !tag is not known here; put a value that begins with ! in quotes',
  UNEXPECTED_TOKEN:
    'a bracket, a comma or a text stands where none can; put texts with such characters in quotes',
};

/** All words that are keys somewhere. Others are not shown, because they may be part of a secret. */
export type Words = ReadonlySet<string>;

/** Why a line is no key with a value, if it was probably meant as one. */
function slipIn(line: string, words: Words): string | undefined {
  const [, word = '', rest = ''] = /^\s*(?:- +)*([A-Za-z][\w-]*)(.*)$/.exec(line) ?? [];
  const isKnown = words.has(word);
  // The colon of a URL has its two slashes after it.
  if (/^:(?!\s|$|\/\/)/.test(rest))
    return `a space is missing after the colon of ${isKnown ? word : 'a key'}`;
  const hasColon = /:(?:\s|$)/.test(rest);
  return isKnown && !hasColon && /^(?:\s|$)/.test(rest) ? `a colon is missing after ${word}` : undefined;
}

/** Slips in the lines from an offset on, up to the first line without one. */
export function slipsFrom(text: string, offset: number, words: Words): readonly string[] {
  const before = text.slice(0, offset).split('\n').length - 1;
  const slips: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (index < before || /^\s*(?:#|---|$)/.test(line)) continue;
    const slip = slipIn(line, words);
    if (slip === undefined) break;
    slips.push(`line ${index + 1}: ${slip}`);
  }
  return slips;
}

/** The messages for a fault that the parser found. */
export function yamlProblems(
  code: ErrorCode,
  text: string,
  { offset, column, words }: { offset: number; column: number; words: Words },
): readonly string[] {
  const line = text.slice(0, offset).split('\n').length;
  const placeholder = brokenPlaceholder(text, offset);
  // One message for its line, since it causes the faults after it.
  if (placeholder !== undefined) return [`line ${line}: ${placeholder}`];
  const slips =
    code === 'MULTILINE_IMPLICIT_KEY' || code === 'MISSING_CHAR' ? slipsFrom(text, offset, words) : [];
  return slips.length > 0 ? slips : [`line ${line}, column ${column}: ${PROBLEMS[code]}`];
}
