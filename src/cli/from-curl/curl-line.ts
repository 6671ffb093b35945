import { UsageError } from '../../base/errors.ts';
import { nearest } from '../../config/values/nearest.ts';
import { LETTERS, NOT_CARRIED, REFUSED, WITH_VALUE, WITHOUT_VALUE } from './curl-options.ts';
import type { Piece, ShellLine } from './shell-line.ts';

/**
 * A line of curl as one request. Its texts hold a character of the private planes for each `$NAME` and `$(…)`, which
 * `expansions` resolves (`given-value.ts`).
 */
export interface CurlLine {
  readonly url: string;
  /** Undefined if curl would choose it. */
  readonly method: string | undefined;
  readonly options: readonly CurlOption[];
  readonly expansions: readonly Exclude<Piece, string>[];
  /** What was given and has no place in bearerd, in words. */
  readonly leftOut: readonly string[];
}

export interface CurlOption {
  /** Its long name without dashes. */
  readonly name: string;
  /** As it was written: `-H`. */
  readonly flag: string;
  readonly value: string | undefined;
}

/** Stands for the expansion of that index. */
export const EXPANSION_BASE = 0xf0000;

/**
 * What a command line asks of curl. Pure.
 *
 * @throws UsageError if it is no line of curl, or asks for what bearerd refuses. No message holds a value.
 */
export function readCurlLine({ words, behind }: ShellLine): CurlLine {
  const expansions: Exclude<Piece, string>[] = [];
  const texts = words.map((word) =>
    word
      .map((piece) =>
        typeof piece === 'string' ? piece : String.fromCodePoint(EXPANSION_BASE + expansions.push(piece) - 1),
      )
      .join(''),
  );
  const { options, urls } = readOptions(argumentsOf(texts));
  for (const { name, flag } of options) {
    const why = REFUSED[name];
    if (why !== undefined) throw new UsageError(`${flag}: ${why}`);
  }
  if (urls.length !== 1) {
    throw new UsageError(
      urls.length === 0
        ? 'it has no URL: paste the whole line'
        : 'it has more than one URL: give one request (is a quote missing?)',
    );
  }
  const leftOut = options
    .filter(({ name }) => NOT_CARRIED.has(name))
    .map(({ flag }) => `${flag} (about the connection to the API, which bearerd makes by itself)`);
  if (behind !== '')
    leftOut.push(
      `what stands behind the command (${/^(?:[|;]|\d*>)/.exec(behind)?.[0] ?? 'another line'} …)`,
    );
  return { url: urls[0]!, method: optionValue(options, 'request'), options, expansions, leftOut };
}

/** The value of the last option of that name: it wins, as in curl. */
export function optionValue(options: readonly CurlOption[], name: string): string | undefined {
  return options.findLast((option) => option.name === name)?.value;
}

/** The prompt of a shell and the name of the program go. */
function argumentsOf(texts: readonly string[]): readonly string[] {
  const at = texts.findIndex((text) => !/^(?:[$%#>]|sudo|time)$/.test(text));
  const program = texts[at] ?? '';
  if (!/^(?:.*[/\\])?curl(?:\.exe)?$/.test(program))
    throw new UsageError(
      "it does not begin with curl: paste one whole line of curl, in single quotes or by '-'",
    );
  return texts.slice(at + 1);
}

function readOptions(args: readonly string[]): { options: CurlOption[]; urls: string[] } {
  const options: CurlOption[] = [];
  const urls: string[] = [];
  let only = false; // Behind `--` there are no options any more.
  for (let i = 0; i < args.length; i++) {
    const argument = args[i]!;
    if (only || !/^-./.test(argument)) {
      urls.push(argument);
    } else if (argument === '--') {
      only = true;
    } else {
      const read = argument.startsWith('--') ? longOption(argument) : letters(argument);
      const last = read.at(-1)!;
      if (WITH_VALUE.has(last.name) && last.value === undefined) {
        const value = args[++i];
        if (value === undefined) throw new UsageError(`${last.flag} has no value: paste the whole line`);
        read[read.length - 1] = { ...last, value };
      }
      for (const option of read) {
        if (option.name === 'url') urls.push(option.value!);
        else options.push(option);
      }
    }
  }
  return { options, urls };
}

function longOption(argument: string): CurlOption[] {
  const [flag = '', ...rest] = argument.split('=');
  const name = flag.slice(2);
  const value = rest.length === 0 ? undefined : rest.join('=');
  if (!WITH_VALUE.has(name)) {
    const known = WITHOUT_VALUE.has(name) || WITHOUT_VALUE.has(name.replace(/^no-/, ''));
    if (!known || value !== undefined) throw unknown(flag);
  }
  return [{ name, flag, value }];
}

/** `-sSH 'Name: value'` and `-XPOST`: letters together, of which the last may have its value behind it. */
function letters(argument: string): CurlOption[] {
  const options: CurlOption[] = [];
  for (let i = 1; i < argument.length; i++) {
    const letter = argument[i]!;
    const name = Object.hasOwn(LETTERS, letter) ? LETTERS[letter]! : undefined;
    if (name === undefined) throw unknown(`-${letter}`);
    const rest = argument.slice(i + 1);
    if (!WITH_VALUE.has(name)) {
      options.push({ name, flag: `-${letter}`, value: undefined });
    } else {
      options.push({ name, flag: `-${letter}`, value: rest === '' ? undefined : rest });
      break;
    }
  }
  return options;
}

function unknown(flag: string): UsageError {
  const near = flag.startsWith('--') ? nearest(flag.slice(2), [...WITH_VALUE, ...WITHOUT_VALUE]) : undefined;
  const named = /^-{1,2}[\w.#:-]{1,40}$/.test(flag) ? flag : 'an option';
  return new UsageError(
    `${named} is not an option of curl${near === undefined ? '' : `; did you mean --${near}?`}`,
  );
}
