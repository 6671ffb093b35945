import { type ChildProcess, spawn } from 'node:child_process';

export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** More on stdout ends the command. */
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  /** Its standard error is ours. Else what it writes there is counted and given to `onStderr`; it may hold anything. */
  readonly inheritStderr?: boolean;
  readonly onStderr?: (chunk: Uint8Array) => void;
}

/** How a command ended. */
export type CommandEnd =
  | {
      readonly kind: 'ended';
      /** Null where a signal ended it. */
      readonly exitCode: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly stdout: Uint8Array;
      readonly stderrBytes: number;
    }
  /** `code` is the system's: `ENOENT`, `EACCES`, … */
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'timeout' | 'too-much-output' | 'aborted' };

/**
 * Runs a program without a shell and without input, until it has ended and its output with it. It leads a process
 * group of its own, so that it can be killed with whatever it has started. Never rejects.
 */
export function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const { timeoutMs, maxOutputBytes, signal } = options;
    if (signal.aborted) return resolve({ kind: 'aborted' });
    const child = start(command, options);
    if (child instanceof Error) return resolve(notStarted(child));

    const chunks: Buffer[] = [];
    let stdoutBytes = 0;
    let stderrBytes = 0;
    const finish = (end: CommandEnd) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      forget(child);
      resolve(end);
    };
    const kill = (end: CommandEnd) => {
      killGroup(child);
      finish(end);
    };
    const abort = () => kill({ kind: 'aborted' });
    const timer = setTimeout(() => kill({ kind: 'timeout' }), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    remember(child);

    child.stdout?.on('data', (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      if (stdoutBytes > maxOutputBytes) kill({ kind: 'too-much-output' });
      else chunks.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderrBytes += chunk.length;
      options.onStderr?.(chunk);
    });
    child.on('error', (error) => finish(notStarted(error)));
    child.on('close', (exitCode, endedBy) =>
      finish({ kind: 'ended', exitCode, signal: endedBy, stdout: Buffer.concat(chunks), stderrBytes }),
    );
  });
}

/** Some reasons why a program can't start come as an event, others are thrown. */
function start(
  [program = '', ...args]: readonly string[],
  { env, inheritStderr = false }: CommandOptions,
): ChildProcess | Error {
  try {
    const stdio = ['ignore', 'pipe', inheritStderr ? 'inherit' : 'pipe'] as const;
    return spawn(program, args, { env, stdio: [...stdio], detached: true, windowsHide: true });
  } catch (error) {
    return error as Error;
  }
}

/** Those that run. No signal to our group reaches theirs, so whatever ends us has to end them. */
const running = new Set<ChildProcess>();

function remember(child: ChildProcess): void {
  if (running.size === 0) process.on('exit', killAll);
  running.add(child);
}

function forget(child: ChildProcess): void {
  running.delete(child);
  if (running.size === 0) process.off('exit', killAll);
}

function killAll(): void {
  for (const child of running) killGroup(child);
}

function notStarted(error: Error): CommandEnd {
  const { code } = error as NodeJS.ErrnoException;
  return { kind: 'not-started', code: typeof code === 'string' ? code : 'unknown error' };
}

/** With all that it has started, but for what has left the group; that one keeps us waiting no longer either. */
function killGroup(child: ChildProcess): void {
  const { pid, stdout, stderr } = child;
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // No process is left in the group, or the system has no groups (Windows).
  }
  stdout?.destroy();
  stderr?.destroy();
}

/** Our own environment, as a command of ours may see it. */
export function environmentWithout(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.includes(name)));
}
