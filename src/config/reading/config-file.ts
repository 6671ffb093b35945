import { isAbsolute, resolve } from 'node:path';
import { ConfigFileError } from '../../base/config-error.ts';
import { NOT_UTF8 } from '../values/encoding.ts';
import { defaultPlaces } from './default-places.ts';
import type { Report } from './faults.ts';
import { type PlaceOf, placeFinder } from './lines.ts';
import { isAbsent, isMap } from './maps.ts';
import type { ConfigFile, LoadInput, Reading } from './reading.ts';
import { DELETED, homeHint, readFailure, withoutMark } from './text-file.ts';
import { slipsFrom, type Words, yamlProblems } from './yaml-faults.ts';

const NOWHERE: PlaceOf = () => undefined;
const UNREADABLE = { content: {}, placeOf: NOWHERE, broken: true };

/** One slip causes faults in many lines after it. */
const MOST_PROBLEMS = 5;

const lineOf = (problem: string | undefined) => /^line \d+/.exec(problem ?? '')?.[0];

interface Source {
  readonly path: string;
  /** Called only if the text is no YAML. */
  readonly words: () => Words;
}

async function parseYaml(source: string, { path, words }: Source, report: Report): Promise<ConfigFile> {
  const text = withoutMark(source);
  const yaml = await import('./yaml.ts');
  const { LineCounter, parseDocument } = yaml;
  const lineCounter = new LineCounter();
  const options = { prettyErrors: false, stringKeys: true, merge: true, lineCounter } as const;
  const document = parseDocument(text, options);
  const problems = [...document.errors, ...document.warnings];
  // The decoder puts this in place of bytes that are not UTF-8: the value would be used changed.
  const lost = text.search(/[\ufffd\0]/);
  if (lost !== -1) {
    const { line, col } = lineCounter.linePos(lost);
    report(path, `line ${line}, column ${col}: this is ${NOT_UTF8}`);
  }
  const said = problems.flatMap(({ code, pos: [at] }) =>
    yamlProblems(code, text, { offset: at, column: lineCounter.linePos(at).col, words: words() }),
  );
  // A slip breaks what is around it, too: of two faults in one line, the first counts.
  const first = said.filter((each, index) => lineOf(each) !== lineOf(said[index - 1]));
  for (const problem of first.slice(0, MOST_PROBLEMS)) report(path, problem);
  if (problems.length > 0) return { path, ...UNREADABLE };
  try {
    const content: unknown = document.toJS({ maxAliasCount: 100 });
    const placeOf = placeFinder(document, lineCounter, yaml);
    if (isAbsent(content) || isMap(content)) return { path, content: content ?? {}, placeOf, broken: false };
    const [slip] = typeof content === 'string' ? slipsFrom(text, 0, words()) : [];
    report(path, slip ?? 'must be a map of keys and values');
  } catch {
    report(path, 'an alias (*name) has no anchor (&name) before it, or there are far too many aliases');
  }
  return { path, ...UNREADABLE };
}

/** An object that a program passes has no lines, and its relative paths begin at the working directory. */
function givenContent(content: unknown, report: Report): ConfigFile {
  if (isMap(content)) return { content, placeOf: NOWHERE, broken: false };
  report('config', 'must be an object of keys and values');
  return UNREADABLE;
}

/** The named file, which must exist, or else the first default place that does. */
export async function readConfigFile(
  input: LoadInput,
  { cwd, environment, words }: Pick<Reading, 'cwd' | 'environment'> & Pick<Source, 'words'>,
  report: Report,
): Promise<ConfigFile> {
  if (input.content !== undefined) return givenContent(input.content, report);
  const named = input.configFile ?? environment.variables.BEARERD_CONFIG;
  const places = named === undefined ? defaultPlaces(input.env, cwd) : [resolve(cwd, named)];
  for (const path of places) {
    let text: string;
    try {
      text = input.readFile(path);
    } catch (error) {
      const failure = readFailure(error);
      if (failure.missing && named === undefined) continue;
      if (cwd === DELETED && named !== undefined && !isAbsolute(named)) {
        throw new ConfigFileError(named, 'the working directory has been deleted; name an absolute path');
      }
      throw new ConfigFileError(path, failure.reason + homeHint(named ?? ''));
    }
    return parseYaml(text, { path, words }, report);
  }
  for (const path of places) reportOtherEnding(path.replace(/yaml$/, 'yml'), input.readFile, report);
  return { sought: places, content: {}, placeOf: NOWHERE, broken: false };
}

/** Reports a file that looks like the configuration and is not read. */
function reportOtherEnding(path: string, readFile: LoadInput['readFile'], report: Report): void {
  try {
    readFile(path);
  } catch (error) {
    if (readFailure(error).missing || readFailure(error).folder) return;
  }
  report(path, 'is not read: rename it to bearerd.yaml, or name it with --config or BEARERD_CONFIG');
}
