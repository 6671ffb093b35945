/**
 * Makes `dist/` from `src/`: `npm run build`, and `prepare` after each `npm ci`.
 * What doesn't pass the type check isn't built.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = `${root}node_modules/typescript/bin/tsc`;
const executable = `${root}dist/main.js`;

process.exitCode = build();

function build(): number {
  if (!existsSync(compiler)) return withoutCompiler();
  rmSync(`${root}dist`, { recursive: true, force: true });
  const { status, error } = spawnSync(
    process.execPath,
    [compiler, '--project', `${root}tsconfig.build.json`],
    {
      stdio: 'inherit',
    },
  );
  if (error !== undefined) throw error;
  if (status === 0) chmodSync(executable, 0o755);
  return status ?? 1;
}

/** `npm ci --omit=dev` in a tree that is built already is fine; elsewhere there would be no program to run. */
function withoutCompiler(): number {
  if (existsSync(executable)) return 0;
  process.stderr.write(
    'bearerd: dist/ is built with the development dependencies: run "npm ci" without --omit=dev\n',
  );
  return 1;
}
