import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from './compiler.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Imports of our own files. Users' compilers look for a declaration beside a `.js`. */
const SPECIFIER = /(from |import\()(['"]\.[^'"]+)\.ts(['"])/g;
const ENTRY_POINTS = ['library/index.d.ts', 'library/fastify.d.ts'];

/** Emits the declarations of the library: those that its two entry points import, directly or not. */
export async function emitTypes(outdir: string): Promise<void> {
  const status = await compile(['--project', join(ROOT, 'src/library'), '--outDir', outdir]);
  if (status !== 0) throw new Error(`tsc ended with ${status}`);
  const needed = new Set<string>();
  for (const entry of ENTRY_POINTS) follow(join(outdir, entry), needed);
  for (const name of readdirSync(outdir, { recursive: true, encoding: 'utf8' })) {
    const file = join(outdir, name);
    if (!file.endsWith('.d.ts')) continue;
    if (needed.has(file)) writeFileSync(file, readFileSync(file, 'utf8').replace(SPECIFIER, '$1$2.js$3'));
    else rmSync(file);
  }
}

function follow(file: string, seen: Set<string>): void {
  if (seen.has(file)) return;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, , specifier] of text.matchAll(SPECIFIER))
    follow(resolve(file, '..', `${specifier!.slice(1)}.d.ts`), seen);
}
