import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from './compiler.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** To a file of ours. Users' compilers look for the declaration beside a `.js`. */
const SPECIFIER = /(from |import\()(['"]\.[^'"]+)\.ts(['"])/g;
const DOORS = ['library/index.d.ts', 'library/fastify.d.ts'];

/** The library's declarations, out of the sources: those that its two doors lead to, and none of the rest. */
export async function emitTypes(outdir: string): Promise<void> {
  const status = await compile(['--project', join(ROOT, 'src/library'), '--outDir', outdir]);
  if (status !== 0) throw new Error(`tsc ended with ${status}`);
  const needed = new Set<string>();
  for (const door of DOORS) follow(join(outdir, door), needed);
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
