import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../src/base/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { watchSecretFiles } from '../../src/config/watch.ts';
import { canary, leaks } from './canaries.ts';
import { Chance } from './chance.ts';
import { Run } from './harness.ts';

// A secret file that changes while it is watched, in every way that files change: what is offered stood in it whole,
// and makes a configuration, or a ConfigError without the secret. The count is that of changes.

const POLL_MS = 2;
const run = new Run();
const folder = mkdtempSync(join(tmpdir(), 'bearerd-fuzz-'));

function contentOf(chance: Chance, n: number): Buffer {
  const secret = canary(`-${n}-${'k'.repeat(chance.below(50))}-end`);
  const bytes = Buffer.from(secret + chance.pick(['', '\n', '\r\n', '\n\n']));
  return chance.mostly(bytes, 0.3, [
    Buffer.alloc(0),
    Buffer.from('\n'),
    Buffer.from([0xff, 0xfe]),
    Buffer.concat([bytes, Buffer.from([0xc3])]),
  ]);
}

/** In place, by another file in its stead, in two halves, or away for a moment. */
async function change(path: string, bytes: Buffer, chance: Chance): Promise<void> {
  const way = chance.below(4);
  if (way === 0) {
    writeFileSync(path, bytes);
  } else if (way === 1) {
    writeFileSync(`${path}.new`, bytes);
    renameSync(`${path}.new`, path);
  } else if (way === 2) {
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    if (chance.odds(0.5)) await new Promise(setImmediate);
    writeFileSync(path, bytes);
  } else {
    rmSync(path, { force: true });
    if (chance.odds(0.5)) await sleep(POLL_MS);
    writeFileSync(path, bytes);
  }
  if (chance.odds(0.5)) await sleep(chance.below(4 * POLL_MS));
}

async function load(path: string, content: string, seed: number): Promise<boolean> {
  const env = { BEARERD_BASE_URL: 'https://a.example', BEARERD_API_KEY_FILE: path };
  const read = (asked: string) => {
    if (asked === path) return content;
    throw Object.assign(new Error(asked), { code: 'ENOENT' });
  };
  try {
    await loadConfig({ env, readFile: read, cwd: '/nowhere' });
    return true;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (leaks(error.message)) run.fault(`a fault shows a secret: ${error.message}`, seed);
    return false;
  }
}

await run.all(8, async (seed) => {
  const chance = new Chance(seed);
  const path = join(folder, String(seed));
  const written = new Set<string>();
  const ended = new AbortController();
  writeFileSync(path, canary('-first'));
  watchSecretFiles({
    files: [path],
    known: new Map([[path, canary('-first')]]),
    readFile: (name) => readFile(name, 'utf8'),
    intervalMs: POLL_MS,
    onChange: (_path, content) => {
      run.note('offered');
      if (!written.has(content)) run.note('halves that stood still for two looks');
      return load(path, content, seed);
    },
    onTrouble: (_path, reason) => {
      run.note('troubles');
      if (leaks(reason)) run.fault(`a reason shows a secret: ${reason}`, seed);
    },
    signal: ended.signal,
  });
  for (let n = chance.below(10); n >= 0; n--) {
    const bytes = contentOf(chance, n);
    written.add(bytes.toString('utf8'));
    await change(path, bytes, chance);
    run.sent++;
  }
  // In the end, what is good is taken.
  const last = canary('-last');
  let taken = false;
  written.add(last);
  writeFileSync(path, last);
  const final = new AbortController();
  watchSecretFiles({
    files: [path],
    known: new Map([[path, 'before']]),
    readFile: (name) => readFile(name, 'utf8'),
    intervalMs: POLL_MS,
    onChange: (_path, content) => {
      taken = content === last;
      return taken;
    },
    onTrouble: () => {},
    signal: final.signal,
  });
  for (let tries = 0; tries < 2_000 && !taken; tries++) await sleep(POLL_MS);
  if (!taken) run.fault('a good secret is not taken', seed);
  ended.abort();
  final.abort();
  run.answered++;
});
rmSync(folder, { recursive: true });
run.report();
