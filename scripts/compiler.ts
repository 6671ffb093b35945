import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LOCATOR = new URL('../node_modules/typescript/lib/getExePath.js', import.meta.url);

/** Development dependencies may be left out. */
export const hasCompiler = existsSync(fileURLToPath(LOCATOR));

/** The compiler's own program, and not the script before it: what a test runner loads into each Node keeps that from starting. */
export async function compilerPath(): Promise<string> {
  const { default: locate } = (await import(LOCATOR.href)) as { default: () => string };
  return locate();
}

/** Runs it; gives its exit code. */
export async function compile(args: readonly string[]): Promise<number> {
  const { status, error } = spawnSync(await compilerPath(), args, { stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 1;
}
