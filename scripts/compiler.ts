import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LOCATOR = new URL('../node_modules/typescript/lib/getExePath.js', import.meta.url);

/** False if the development dependencies are not installed. */
export const hasCompiler = existsSync(fileURLToPath(LOCATOR));

/** The compiler's binary. Its launcher script fails with what a test runner loads into each Node. */
export async function compilerPath(): Promise<string> {
  const { default: locate } = (await import(LOCATOR.href)) as { default: () => string };
  return locate();
}

/** Runs the compiler; gives its exit code. */
export async function compile(args: readonly string[]): Promise<number> {
  const { status, error } = spawnSync(await compilerPath(), args, { stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 1;
}
