/**
 * Makes `dist/` from `src/`: `npm run build`, and `prepare` after each `npm ci`.
 * Builds only if the type check passes. With `--if-older`, which `npm test` uses, it does nothing if `dist/` is newer
 * than all its sources.
 */
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile, hasCompiler } from './compiler.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const executable = `${root}dist/main.js`;

if (!process.argv.includes('--if-older') || isOlder()) process.exitCode = await make();

async function make(): Promise<number> {
  if (!hasCompiler) return withoutCompiler();
  const status = await compile(['--project', root]);
  if (status !== 0) return status;
  rmSync(`${root}dist`, { recursive: true, force: true });
  const { bundle } = await import('./bundle.ts'); // Its tools are development dependencies.
  await bundle(`${root}dist`);
  const { emitTypes } = await import('./types.ts');
  await emitTypes(`${root}dist/types`);
  chmodSync(executable, 0o755);
  return 0;
}

/** Looks at folders, too: their time changes when a file is removed. */
function isOlder(): boolean {
  if (!existsSync(executable)) return true;
  const builtMs = statSync(executable).mtimeMs;
  const folders = ['src', 'scripts'].flatMap((folder) => [
    folder,
    ...readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  ]);
  return [...folders, 'package.json', 'package-lock.json', 'tsconfig.json'].some(
    (name) => statSync(join(root, name)).mtimeMs > builtMs,
  );
}

/** `npm ci --omit=dev` is fine if `dist/` is built already; otherwise there would be no program to run. */
function withoutCompiler(): number {
  if (existsSync(executable)) return 0;
  process.stderr.write(
    'bearerd: dist/ is built with the development dependencies: run "npm ci" without --omit=dev\n',
  );
  return 1;
}
