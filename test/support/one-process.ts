import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { environment, type Finished, run } from './cli.ts';
import { saidBy } from './internal-errors.ts';
import { plainNode } from './plain-node.ts';
import { happens } from './raw-client.ts';
import type { CommandLine } from './resident.ts';
import { IS_WHOLE } from './share.ts';

type Run = (t: Test, args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string) => Promise<Finished>;

const RESIDENT = fileURLToPath(new URL('resident.ts', import.meta.url));

/**
 * Runs command lines as `run` of support/cli.ts does, but in one process, one after the other: the start of a process
 * takes ten times as long as most of what it does then. For commands that end by themselves and leave nothing behind.
 * Where the whole is played, each has a process of its own.
 */
export function inOneProcess(t: Test): Run {
  if (IS_WHOLE || process.env.TESTED_COMMAND !== undefined) return run;
  let resident: ReturnType<typeof begun> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (test, args, env = {}, cwd = test.testdirName) => {
    const call = async () => {
      resident ??= begun(t);
      const told = happens(resident, 'message');
      resident.send({ args, env: environment(env), cwd } satisfies CommandLine);
      return (await told)[0] as Finished;
    };
    const result = last.then(call);
    last = result.catch(() => {});
    return result;
  };
}

function begun(t: Test) {
  const env = environment({ TESTED_PROGRAM: process.env.TESTED_PROGRAM });
  const child = spawn(...plainNode([RESIDENT]), { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  saidBy(t, child);
  return child;
}
