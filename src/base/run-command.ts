import { type ChildProcess, spawn } from 'node:child_process';
import type { Environment } from './environment.ts';
import { codeOf } from './failures/kind.ts';

interface CommandOptions {
  readonly env: Environment;
  readonly timeoutMs: number;
  /** If stdout gets longer, the command is killed. */
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  /** The command writes to bearerd's stderr. Else its output there, which may hold anything, goes to `onStderr`. */
  readonly inheritStderr?: boolean;
  readonly onStderr?: (chunk: Uint8Array) => void;
}

/** How a command ended. */
export type CommandEnd =
  | {
      readonly kind: 'ended';
      /** Null if a signal ended the command. */
      readonly exitCode: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly stdout: Uint8Array;
      readonly stderrBytes: number;
    }
  /** `code` comes from the system: `ENOENT`, `EACCES`, … */
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'timeout' | 'too-much-output' | 'aborted' };

/**
 * Runs a program without a shell and without input, until it has ended and closed its output. The program leads its own
 * process group, so that it can be killed together with the processes that it starts. Never rejects.
 */
export function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const { timeoutMs, maxOutputBytes, signal } = options;
    if (signal.aborted) return resolve({ kind: 'aborted' });
    let child: ChildProcess;
    try {
      child = start(command, options);
    } catch (error) {
      return resolve(notStarted(error)); // `spawn` throws some failures, and emits others.
    }

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

function start(
  [program = '', ...args]: readonly string[],
  { env, inheritStderr = false }: CommandOptions,
): ChildProcess {
  const stdio = ['ignore', 'pipe', inheritStderr ? 'inherit' : 'pipe'] as const;
  return spawn(program, args, { env, stdio: [...stdio], detached: true, windowsHide: true });
}

/** Running commands. A signal to bearerd's process group does not reach theirs, so they are killed when bearerd exits. */
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

function notStarted(error: unknown): CommandEnd {
  return { kind: 'not-started', code: codeOf(error) };
}

/** Kills the whole group. A process that has left the group goes on, but its open output delays nothing. */
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

/** bearerd's environment without the given variables, for a command. */
export function environmentWithout(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.includes(name)));
}
