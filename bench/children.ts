import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const STOP_LIMIT_MS = 3_000;

/** Where configurations and sockets of this run are; gone at its end. */
export const scratch = mkdtempSync(join(tmpdir(), 'bearerd-bench-'));
const running = new Set<ChildProcess>();
const startedMs = new WeakMap<ChildProcess, number>();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

/** Starts a program with nothing of the caller's environment but the path. */
export function launch(
  command: string,
  args: readonly string[],
  { env = {}, stdio = ['ignore', 'ignore', 'inherit'] }: Pick<SpawnOptions, 'env' | 'stdio'> = {},
): ChildProcess {
  const now = performance.now();
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: scratch, ...env },
    cwd: scratch,
    stdio,
  });
  running.add(child);
  startedMs.set(child, now);
  child.on('exit', () => running.delete(child));
  return child;
}

/** Milliseconds since the moment before it was started. */
export function ageMs(child: ChildProcess): number {
  return performance.now() - startedMs.get(child)!;
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(timer);
}

/** What a program says of its version; undefined where it is not installed. */
export function versionOf(command: string, ...args: string[]): string | undefined {
  const { stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: scratch },
  });
  return error === undefined ? /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] : undefined;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
