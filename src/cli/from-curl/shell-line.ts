import { homedir } from 'node:os';
import { UsageError } from '../../base/errors.ts';

/** A piece of a word: text, a variable (`$NAME`), or a command whose output would stand here (`$(…)`). */
export type Piece = string | { readonly variable: string } | { readonly command: string };

/** What a shell hands on as one argument. Neighbouring texts are one piece; `''` is a word of one empty text. */
type Word = readonly Piece[];

export interface ShellLine {
  readonly words: readonly Word[];
  /** What stands behind the command (`| jq .`), as written; empty if it is the end. */
  readonly behind: string;
}

/** Where the reader is in the text. */
interface Cursor {
  readonly text: string;
  at: number;
}

/** No shell takes them for blanks or quotes; they come from web pages. */
const TYPOGRAPHIC = /[\u2018\u2019\u201c\u201d\u00a0]/;
const NAME = /[A-Za-z_]\w*/y;
/** What ends the command. Digits right before `>` are the number of what is redirected (POSIX, §2.7), and no word. */
const BEHIND = /[|;\n]|\d*>/y;
/** What a shell replaces at the beginning of a word by a home directory (POSIX, §2.6.1); with a quote in it, nothing. */
const TILDE = /~([\w.+-]*)(?=[/\s|;>]|$)/y;

/**
 * Reads one command in the quoting of a POSIX shell (POSIX.1-2024, Shell Command Language §2.2) with `$'…'`, as it is
 * copied from documentation. Nothing but `~` is expanded, and nothing is run.
 *
 * @throws UsageError that says what can't be read; it quotes no more than a character or a variable's name.
 */
export function readShellLine(line: string): ShellLine {
  const cursor: Cursor = { text: line.replaceAll('\r\n', '\n').replace(/^\uFEFF/, ''), at: 0 };
  const words: Word[] = [];
  for (;;) {
    skipBlanks(cursor, words.length === 0);
    const { text, at } = cursor;
    if (at >= text.length) return { words, behind: '' };
    if (text[at] === '#') {
      cursor.at = endOfLine(cursor);
      continue;
    }
    BEHIND.lastIndex = at;
    if (BEHIND.test(text)) return { words, behind: text.slice(at).trim() };
    words.push(readWord(cursor));
  }
}

/** Blanks and continued lines; before the first word empty lines, too. */
function skipBlanks(cursor: Cursor, atStart: boolean): void {
  const blanks = atStart ? /(?:[ \t\n]|\\\n)*/y : /(?:[ \t]|\\\n)*/y;
  blanks.lastIndex = cursor.at;
  cursor.at += blanks.exec(cursor.text)![0].length;
}

function endOfLine({ text, at }: Cursor): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

function readWord(cursor: Cursor): Word {
  const pieces: Piece[] = [];
  const add = (piece: Piece) => {
    const last = pieces.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
    else pieces.push(piece);
  };
  const { text } = cursor;
  const home = homeAt(cursor);
  if (home !== '') add(home);
  while (cursor.at < text.length && !/[ \t\n|;>]/.test(text[cursor.at]!)) {
    const char = text[cursor.at]!;
    if (char === "'") add(singleQuoted(cursor));
    else if (char === '"') doubleQuoted(cursor, add);
    else if (text.startsWith("$'", cursor.at)) add(ansiQuoted(cursor));
    else if (char === '$') add(expansion(cursor));
    else if (char === '\\') add(escaped(cursor));
    else add(plain(cursor));
  }
  return pieces;
}

/** The home directory for a `~` at the beginning of a word; empty if there is none. */
function homeAt(cursor: Cursor): string {
  TILDE.lastIndex = cursor.at;
  const [found = '', name] = TILDE.exec(cursor.text) ?? [];
  if (name) throw new UsageError('a "~" with a name stands for a directory: write its whole path');
  cursor.at += found.length;
  return found && homedir();
}

/** One character outside of quotes that stands for itself. */
function plain(cursor: Cursor): string {
  const char = cursor.text[cursor.at]!;
  if (char === '&')
    throw new UsageError(
      'a "&" outside of quotes ends the command for a shell: put the URL in single quotes',
    );
  if (char === '<')
    throw new UsageError(
      'a "<" outside of quotes reads a file for a shell: put what holds it in single quotes, or write your own value in the place of a <placeholder>',
    );
  if (char === '`')
    throw new UsageError('a backquote runs a command: write the value, or the name of a variable as $NAME');
  if (char === '^' && /\^\r?\n/y.test(cursor.text.slice(cursor.at, cursor.at + 3)))
    throw new UsageError('"^" at the end of a line is for Windows: copy the line for Bash instead');
  if (TYPOGRAPHIC.test(char))
    throw new UsageError(
      'it holds typographic quotes or blanks of a web page: write \' and " and plain blanks',
    );
  cursor.at++;
  return char;
}

/** A backslash outside of quotes; with a line end behind it, it stands for nothing. */
function escaped(cursor: Cursor): string {
  const char = cursor.text[cursor.at + 1];
  if (char === undefined) throw new UsageError('it ends with a backslash: a part of the line is missing');
  cursor.at += 2;
  return char === '\n' ? '' : char;
}

function singleQuoted(cursor: Cursor): string {
  const end = cursor.text.indexOf("'", cursor.at + 1);
  if (end === -1) throw unclosed("'");
  const text = cursor.text.slice(cursor.at + 1, end);
  cursor.at = end + 1;
  return text;
}

function doubleQuoted(cursor: Cursor, add: (piece: Piece) => void): void {
  const { text } = cursor;
  add('');
  for (cursor.at++; cursor.at < text.length; ) {
    const char = text[cursor.at]!;
    if (char === '"') {
      cursor.at++;
      return;
    }
    if (char === '$') add(expansion(cursor));
    else if (char === '`') plain(cursor);
    else if (char === '\\' && /["$`\\\n]/.test(text[cursor.at + 1] ?? '')) add(escaped(cursor));
    else {
      add(char);
      cursor.at++;
    }
  }
  throw unclosed('"');
}

const ANSI: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
};
const ANSI_ESCAPE = /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,3})|([\s\S]))/y;

/** `$'…'`, with the escapes of C. Escaped bytes above 127 are taken as UTF-8. */
function ansiQuoted(cursor: Cursor): string {
  const { text } = cursor;
  const bytes: Buffer[] = [];
  for (cursor.at += 2; cursor.at < text.length; ) {
    const char = String.fromCodePoint(text.codePointAt(cursor.at)!);
    if (char === "'") {
      cursor.at++;
      return Buffer.concat(bytes).toString('utf8');
    }
    ANSI_ESCAPE.lastIndex = cursor.at;
    const found = char === '\\' ? ANSI_ESCAPE.exec(text) : null;
    bytes.push(found === null ? Buffer.from(char) : ansiEscape(found));
    cursor.at += found?.[0].length ?? char.length;
  }
  throw unclosed("$'");
}

function ansiEscape([whole, byte, short, long, octal, letter]: RegExpExecArray): Buffer {
  if (byte !== undefined) return Buffer.from([Number.parseInt(byte, 16)]);
  if (octal !== undefined) return Buffer.from([Number.parseInt(octal, 8) & 0xff]);
  const point = short ?? long;
  if (point === undefined) return Buffer.from(ANSI[letter!] ?? whole);
  const code = Number.parseInt(point, 16);
  if (code > 0x10ffff) throw new UsageError("a \\U in $'…' names no character");
  return Buffer.from(String.fromCodePoint(code));
}

/** `$NAME`, `${NAME}` or `$(…)`; a `$` before anything else stands for itself. */
function expansion(cursor: Cursor): Piece {
  const { text, at } = cursor;
  const brace = text[at + 1] === '{';
  NAME.lastIndex = at + (brace ? 2 : 1);
  const name = NAME.exec(text)?.[0];
  if (text[at + 1] === '(') return command(cursor);
  if (brace && (name === undefined || text[NAME.lastIndex] !== '}'))
    throw new UsageError('a "$" with braces holds more than a name: write the value, or $NAME');
  if (name === undefined) {
    if (/[\d?$!@*#-]/.test(text[at + 1] ?? ''))
      throw new UsageError(`"$${text[at + 1]}" is a shell's own variable: write the value`);
    cursor.at++;
    return '$';
  }
  cursor.at = NAME.lastIndex + (brace ? 1 : 0);
  return { variable: name };
}

/** `$(…)` of plain words: what is in it stays as it is written. */
function command(cursor: Cursor): Piece {
  const end = cursor.text.indexOf(')', cursor.at);
  const inner = cursor.text.slice(cursor.at + 2, end);
  if (end === -1 || !/^[\w./:=@%+, -]+$/.test(inner.trim()))
    throw new UsageError(
      '"$(…)" holds more than plain words: write the value, or the name of a variable as $NAME',
    );
  cursor.at = end + 1;
  return { command: inner.trim() };
}

function unclosed(quote: string): UsageError {
  return new UsageError(`a quote (${quote}) is not closed: paste the whole line`);
}
