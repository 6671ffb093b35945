import { pathToFileURL } from 'node:url';
import { MAIN } from './cli.ts';

// One process that runs command lines, one after the other, as if each were a process of its own.

export interface CommandLine {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

let calls = 0;

process.on('message', async ({ args, env, cwd }: CommandLine) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, MAIN, ...args];
  process.exitCode = undefined;
  const said = { stdout: '', stderr: '' };
  const restored = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const { write } = stream;
    stream.write = (text: string | Uint8Array, ...rest: unknown[]) => {
      said[name] += Buffer.from(text as string).toString();
      const done = rest.find((each) => typeof each === 'function');
      if (done !== undefined) process.nextTick(done as () => void);
      return true;
    };
    return () => {
      stream.write = write;
      stream.removeAllListeners('error');
    };
  });
  // The file alone is evaluated anew; what it loads has been loaded.
  await import(`${pathToFileURL(MAIN)}?${++calls}`);
  for (const restore of restored) restore();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR1', 'SIGHUP']) process.removeAllListeners(signal);
  process.send!({ code: process.exitCode, signal: null, ...said });
});
