import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { isOtherEncoding, NOT_UTF8 } from '../values/encoding.ts';
import type { Report } from './faults.ts';
import type { LoadInput } from './reading.ts';
import { readFailure, withoutMark } from './text-file.ts';

interface DotEnv {
  readonly values: Readonly<Record<string, string>>;
  /** A line of ours can't be read, so that it may hold what is missing. */
  readonly broken: boolean;
}

const NOTHING: DotEnv = { values: {}, broken: false };

/** A value in quotes, which may have several lines. */
const QUOTED = /^([ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*)(["'`])[\s\S]*?\2/gm;
const OWN_NAME = /^(.*?)\b(BEARERD_[A-Z0-9_]+)(.*)$/;

/**
 * Finds what Node's parser ignores silently, or reads in an unexpected way. Lines without one of our names may be for
 * another program, and are not checked.
 */
function lineProblem(line: string): string | undefined {
  const [, before = '', name = '', rest = ''] = OWN_NAME.exec(line) ?? [];
  if (name === '' || /^\s*#/.test(line)) return undefined;
  if (!/^\s*(?:export\s+)?$/.test(before)) {
    return /^\s*[\w$-]+[:\s]\s*$/.test(before) && /^\s*=/.test(rest)
      ? `must begin with the name: ${name}=VALUE`
      : undefined;
  }
  const [, value] = /^\s*=(.*)$/.exec(rest) ?? [];
  if (value === undefined) return `has no = after the name; write ${name}=VALUE`;
  if (/^\s*["'`]./.test(value) && !/^\s*''/.test(value)) return `has a quote that is not closed (${name})`;
  // After a blank, # begins a comment for every reader of such files; elsewhere only for some.
  return /\S#|^#/.test(value)
    ? `has a # that cuts the value of ${name} off; put the value in quotes`
    : undefined;
}

function reportLines(text: string, report: Report): boolean {
  // Only the number of its lines matters here.
  const plain = text.replace(QUOTED, (all, before: string) => `${before}''${all.replace(/[^\n]/g, '')}`);
  const problems = plain.split('\n').flatMap((line, index) => {
    const problem = lineProblem(line.replace(/\r$/, ''));
    return problem === undefined ? [] : [`line ${index + 1} ${problem}`];
  });
  for (const problem of problems) report('.env', problem);
  return problems.length > 0;
}

/** The `.env` of a working directory, if there is one. */
export function readDotEnv(cwd: string, readFile: LoadInput['readFile'], report: Report): DotEnv {
  let text: string;
  try {
    text = readFile(join(cwd, '.env'));
  } catch (error) {
    const failure = readFailure(error);
    // A folder of that name is mostly a Python virtual environment.
    if (!failure.missing && !failure.folder) report('.env', `cannot be read: ${failure.reason}`);
    return NOTHING;
  }
  if (isOtherEncoding(text)) report('.env', `is ${NOT_UTF8}`);
  const broken = reportLines(withoutMark(text), report);
  const values = parseEnv(withoutMark(text)) as Record<string, string>;
  // The parser may take a part of a secret for a name.
  for (const name of Object.keys(values)) if (!/^[\w.-]+$/.test(name)) delete values[name];
  return { values, broken };
}
