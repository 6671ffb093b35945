import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { CACHE_FOLDER, COUNTS_LINES } from './compiled.ts';
import { assertNoInternalError } from './internal-errors.ts';
import { plainNode } from './plain-node.ts';
import { within } from './raw-client.ts';

/** What runs: the sources, or what users get. Its name isn't one of ours, which would be a fault: `TESTED_PROGRAM=dist/main.js`. */
export const MAIN = resolve(
  process.env.TESTED_PROGRAM ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url)),
);

/**
 * How it is started: by this Node, or by the command of an archive (`TESTED_COMMAND=…/bearerd`), with `TESTED_PATH` as
 * its PATH and without HOME.
 */
const COMMAND: readonly [string, ...string[]] =
  process.env.TESTED_COMMAND === undefined ? [process.execPath, MAIN] : [resolve(process.env.TESTED_COMMAND)];

/** tap looks at what each process of a test runs; it need not, and takes its time for it. */
const IS_PLAIN = COMMAND.length > 1 && !COUNTS_LINES;

/** Of some hundred starts of the same program each but the first few finds here what Node has made of its files. */
export const COMPILED = { NODE_COMPILE_CACHE: CACHE_FOLDER };

/** Where another test may listen, or somebody at this machine. */
const DEFAULT_PORT = /"(?:urls|admin)":\[[^\]]*:918[01]"/;

/** More than a loaded machine needs; what takes longer hangs. */
const OUTPUT_MS = 60_000;
const PROCESS_MS = 120_000;

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** What it has written so far, stdout and stderr together. */
  output(): string;
  /** Resolves once the output matches; rejects when the process ends before, and after a while. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Only what a process needs; none of the tester's own BEARERD_ variables. */
export function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TESTED_PATH } = process.env;
  if (COMMAND.length === 1) return { PATH: TESTED_PATH ?? PATH, NODE_NO_WARNINGS: '1', ...env };
  return { PATH, HOME, NODE_NO_WARNINGS: '1', ...COMPILED, ...env };
}

/** Runs `bearerd ARGS` as a process of its own; it is ended with the test, and may have told of no internal error. */
export function start(
  t: Test,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = t.testdirName,
  input?: string,
): Running {
  const [program, ...before] = COMMAND;
  const [command, words] = IS_PLAIN
    ? plainNode([...before, ...args], env.NODE_OPTIONS)
    : [program, [...before, ...args]];
  const child = spawn(command, words, {
    env: environment(env),
    cwd,
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {}).end(input); // It may end without having read.
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  const note = () => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    note();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    note();
  });
  let ended = false;
  const closed = new Promise<Finished>((resolve) => {
    child.on('close', (code, signal) => {
      ended = true;
      note();
      resolve({ code, signal, stdout, stderr });
    });
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await closed;
    assertNoInternalError(output());
    if (DEFAULT_PORT.test(output()))
      throw new Error(`${args.join(' ')}: it is to listen at a port of its own`);
  });
  const output = () => stdout + stderr;
  const finished = within(PROCESS_MS, closed, () => `bearerd ${args.join(' ')} does not end:\n${output()}`);
  finished.catch(() => {}); // Not every test waits for the end.
  const until = (pattern: RegExp) =>
    within(
      OUTPUT_MS,
      new Promise<RegExpExecArray>((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(output());
          if (match !== null || ended) listeners.delete(look);
          if (match !== null) resolve(match);
          else if (ended) reject(new Error(`ended before ${pattern}:\n${output()}`));
        };
        listeners.add(look);
        look();
      }),
      () => `no ${pattern} in:\n${output()}`,
    );
  return { child, finished, output, until };
}

/** Runs `bearerd ARGS` to its end. */
export function run(
  t: Test,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
  input?: string,
): Promise<Finished> {
  return start(t, args, env, cwd, input).finished;
}
