import { text } from 'node:stream/consumers';
import { UsageError } from '../../base/errors.ts';
import { SETTINGS } from '../../config/declaration/settings.ts';
import { ConfigurationSource } from '../../config/source.ts';
import { print } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { assertNew, writeNewFiles } from '../new-files.ts';
import { questions } from '../questions.ts';
import type { FoundCredential } from './credential-entry.ts';
import { type CurlLine, readCurlLine } from './curl-line.ts';
import { type CurlRequest, requestOf } from './curl-request.ts';
import { findCredential } from './found-credential.ts';
import { secretNotes, urlNotes } from './notes.ts';
import { filledUrl, placeholdersIn, unfilled } from './placeholders.ts';
import { headersLeftOut, optionsLeftOut, proxyVariable, quoted, sameCall, targetOf } from './same-call.ts';
import { unknownPart } from './sent-requests.ts';
import { readShellLine } from './shell-line.ts';
import { checkFiles } from './written-check.ts';
import { filesOf, type WrittenFiles } from './written-files.ts';

const MAX_LINE = 1024 * 1024;

/**
 * Writes the configuration for what a line of curl does, and prints the same call by bearerd.
 *
 * @param given the line, or `-` for standard input
 * @returns the exit code: 1 if `isTried` and the two answers differ
 * @throws UsageError if the line can't be read (64); NotWrittenError if a file exists already (73)
 */
export async function fromCurl(given: string, output: string, isTried: boolean): Promise<number> {
  const written = given === '-' ? await text(process.stdin) : given;
  if (written.length > MAX_LINE) throw new UsageError('--from-curl: the line is longer than 1 MiB');
  const read = named(() => readCurlLine(readShellLine(written)));
  const line = await filledIn(read, given === '-' ? undefined : output);
  const request = named(() => requestOf(line));
  const found = named(() => findCredential(line, request));
  named(() => checkLoginUrl(found, request));
  const files = named(() => filesOf(line, request, found, output));
  const call = named(() => sameCall(line, request, found, SETTINGS.listen.default));
  const proxy = named(() => proxyVariable(line, request));
  await checkFiles(files, line, output).catch((error: unknown) => {
    throw ofLine(error);
  });
  // Secrets first, since the configuration names them.
  const secrets = files.secrets.map((file) => ({ ...file, mode: 0o600 }));
  writeNewFiles([...secrets, { path: output, text: files.yaml }]);
  const notes = [
    ...found.notes,
    ...secretNotes(files.secrets, Date.now()),
    ...(found.isLogin ? [] : urlNotes(request.origin, targetOf(line, request))),
  ];
  await print(report({ output, files, found, call, proxy, notes, leftOut: leftOut(line, request, found) }));
  return isTried ? tried(line, request, found, output) : EXIT.done;
}

/** What is wrong is wrong with the line. */
function named<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw ofLine(error);
  }
}

function ofLine(error: unknown): unknown {
  return error instanceof UsageError ? new UsageError(`--from-curl: ${error.message}`) : error;
}

/**
 * With a person's own values in the place of the URL's placeholders.
 *
 * @param output where the answers will go; undefined if standard input is not for answers
 */
async function filledIn(line: CurlLine, output: string | undefined): Promise<CurlLine> {
  if (placeholdersIn(line.url).length === 0) return line;
  const person = output === undefined ? undefined : questions();
  try {
    if (output !== undefined && person !== undefined) assertNew([output]);
    return { ...line, url: await filledUrl(line.url, person) };
  } catch (error) {
    throw ofLine(error);
  } finally {
    person?.close();
  }
}

/** The URL of a login stands in the file, and not in a call that a person still completes. */
function checkLoginUrl({ isLogin }: FoundCredential, { path }: CurlRequest): void {
  const [placeholder] = isLogin ? placeholdersIn(path) : [];
  if (placeholder !== undefined) throw unfilled(placeholder);
}

function leftOut(line: CurlLine, request: CurlRequest, { others, isLogin }: FoundCredential): string[] {
  const why = isLogin
    ? 'a login of bearerd does not send it'
    : 'bearerd carries one credential; send this one yourself where it is needed';
  return [
    ...others.map((where) => `${where}: ${why}`),
    ...headersLeftOut(request),
    ...optionsLeftOut(line),
    ...line.leftOut,
  ];
}

interface Reported {
  readonly output: string;
  readonly files: WrittenFiles;
  readonly found: FoundCredential;
  readonly call: string;
  readonly proxy: string;
  readonly notes: readonly string[];
  readonly leftOut: readonly string[];
}

function report({ output, files: { secrets }, found, call, proxy, notes, leftOut }: Reported): string {
  const config = output === 'bearerd.yaml' ? '' : ` --config ${quoted(output)}`;
  const paths = secrets.map(({ path }) => path).join(', ');
  return [
    `${output} is written${paths === '' ? '' : `, and the secret to ${paths} (readable by you only)`}.\n`,
    ...notes.map((note) => `${note}\n`),
    leftOut.length === 0 ? '' : `\nNot carried over:\n${leftOut.map((what) => `  - ${what}\n`).join('')}`,
    `\nNext:\n\n  ${proxy}bearerd check --online${config}\n`,
    found.isLogin ? '' : `  ${proxy}bearerd${config}\n`,
    found.isLogin
      ? `\nThe same login by bearerd, which prints the token:\n\n  ${proxy}${call}${config}\n`
      : `\nThe same call by bearerd, without the credential:\n\n  ${call}\n`,
  ].join('');
}

async function tried(
  line: CurlLine,
  request: CurlRequest,
  found: FoundCredential,
  output: string,
): Promise<number> {
  const why = whyNotTried(line, request, found);
  if (why !== undefined) {
    await print(`\nNot tried: ${why}.\n`);
    return EXIT.done;
  }
  const { tryBoth } = await import('./try-both.ts');
  const source = new ConfigurationSource(process.env, { configFile: output, flags: {}, defaults: {} });
  const { equal, words } = await tryBoth(line, request, await source.load());
  await print(`\nTried both, ${equal ? 'and the answers are equal' : 'and the answers differ'}:\n${words}`);
  return equal ? EXIT.done : EXIT.failed;
}

function whyNotTried(
  line: CurlLine,
  { method }: CurlRequest,
  { isLogin }: FoundCredential,
): string | undefined {
  if (isLogin) return 'it is a login; only GET and HEAD are sent';
  if (!/^(?:GET|HEAD)$/.test(method)) return `a ${method} may change something; only GET and HEAD are sent`;
  const flag = unknownPart(line);
  return flag && `what ${flag} gives does not stand in the line; only what stands there is sent`;
}
