import { createInterface } from 'node:readline/promises';
import { ConfigError } from '../base/config-error.ts';
import { NotWrittenError, UsageError } from '../base/errors.ts';
import { printToStderr } from './command.ts';

/** Asks a person on the terminal. */
export interface Questions {
  /**
   * Asks until the answer can be used: a slip must not end it.
   *
   * @param check throws if an answer is of no use
   * @param preset taken for an empty answer
   */
  readonly ask: (question: string, check: (answer: string) => unknown, preset?: string) => Promise<string>;
  readonly close: () => void;
}

/** Undefined if no terminal is there to ask on. Questions go to stderr: stdout has the result alone. */
export function questions(): Questions | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and the end of the input are a no.
  const ended = new Promise<never>((_, reject) => {
    terminal.once('close', () => reject(new NotWrittenError('nothing was written')));
  });
  ended.catch(() => {});
  const ask: Questions['ask'] = async (question, check, preset = '') => {
    const shown = preset === '' ? question : `${question} [${preset}]`;
    for (;;) {
      const given = (await Promise.race([terminal.question(`${shown}: `), ended])).trim();
      const answer = given === '' ? preset : given;
      try {
        check(answer);
        return answer;
      } catch (error) {
        if (!(error instanceof ConfigError || error instanceof UsageError)) throw error;
        printToStderr(`  ${problemOf(error)}\n`);
      }
    }
  };
  return { ask, close: () => terminal.close() };
}

/** Without the flag, which is our own addition. */
function problemOf(error: ConfigError | UsageError): string {
  return error.message.replace(/^--[\w-]+: /, '');
}
