import { spawn, spawnSync } from 'node:child_process';
import type { Test } from 'tap';
import { MAIN } from './cli.ts';
import { assertNoInternalError } from './internal-errors.ts';
import { happens } from './raw-client.ts';

/** For `skip`: why no test can use a terminal here, or false. */
export const NO_TERMINAL =
  spawnSync('script', ['--version']).status !== 0 && 'there is no `script` that would make a terminal';

/**
 * Runs bearerd on a terminal, and types an answer after each question, in this order.
 *
 * @param args as a shell reads them
 */
export async function onTerminal(
  t: Test,
  cwd: string,
  args: string,
  questions: readonly (readonly [question: string, answer: string])[],
): Promise<{ code: unknown; output: string }> {
  const { PATH, HOME } = process.env;
  const child = spawn('script', ['-qfec', `'${process.execPath}' '${MAIN}' ${args}`, '/dev/null'], {
    env: { PATH, HOME, TERM: 'dumb' },
    cwd,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const left = [...questions];
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const [question, answer] = left[0] ?? [];
    if (question === undefined || !output.includes(question)) return;
    left.shift();
    child.stdin.write(answer);
  });
  const [code] = await happens(child, 'close');
  assertNoInternalError(output);
  return { code, output };
}
