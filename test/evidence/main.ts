import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { differences, type Evidence, pageOf, type Result, resultOf, verdictOf } from './evidence.ts';
import { PROOFS, type Proof } from './proofs.ts';

/**
 * Runs a part of each proof, from a fixed seed if it has one, and reports the results:
 *
 *   npm run evidence                       all, into evidence.json and evidence.md, in about ten minutes on two cores
 *   npm run evidence -- --seed 7           with another seed
 *   npm run evidence -- --only faults      one proof
 *   npm run evidence -- --check FILE       repeats the run in FILE, and compares what the seed determines
 *
 * Exits with 1 if a proof fails, or if a repeated run differs.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LONGEST_MS = 20 * 60_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '2026' },
    only: { type: 'string' },
    check: { type: 'string' },
    out: { type: 'string', default: 'evidence' },
  },
});

function play(proof: Proof, seed: number): Promise<Result> {
  const began = performance.now();
  const child = spawn(process.execPath, proof.args(seed), {
    cwd: ROOT,
    env: { ...process.env, ...proof.env?.(seed) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (exitCode) => {
      const seconds = Math.round((performance.now() - began) / 1_000);
      const result = resultOf(proof, seed, { output, exitCode, seconds });
      if (!result.holds) process.stderr.write(`${failuresIn(output)}${errors}`);
      resolve(result);
    });
  });
}

/** The failed tests in the output, or else its end. */
function failuresIn(output: string): string {
  const failed = output.split('\n').filter((line) => /^\s*not ok/.test(line));
  return `${(failed.length > 0 ? failed.slice(0, 20) : output.split('\n').slice(-20)).join('\n')}\n`;
}

async function run(proofs: readonly Proof[], seed: number): Promise<Evidence> {
  const results: Result[] = [];
  for (const proof of proofs) {
    process.stderr.write(`${proof.name} … `);
    const result = await play(proof, seed);
    process.stderr.write(`${verdictOf(result)} in ${result.seconds} s\n`);
    results.push(result);
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  return {
    commit: git('rev-parse', 'HEAD'),
    changed: git('status', '--porcelain', '--untracked-files=no') !== '',
    seed,
    at: new Date().toISOString(),
    machine: {
      node: process.versions.node,
      system: `${type()} ${release()}`,
      processor: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGib: Math.round(totalmem() / 2 ** 30),
    },
    results,
  };
}

const before =
  values.check === undefined ? undefined : (JSON.parse(readFileSync(values.check, 'utf8')) as Evidence);
const names =
  before?.results.map(({ name }) => name) ?? (values.only === undefined ? undefined : [values.only]);
const proofs = PROOFS.filter(({ name }) => names === undefined || names.includes(name));
if (proofs.length === 0) throw new Error(`--only takes one of: ${PROOFS.map(({ name }) => name).join(', ')}`);
const evidence = await run(proofs, before?.seed ?? Number(values.seed));
process.stdout.write(pageOf(evidence));
if (before === undefined) {
  writeFileSync(`${values.out}.json`, `${JSON.stringify(evidence, null, 2)}\n`);
  writeFileSync(`${values.out}.md`, `# Evidence\n\n${pageOf(evidence)}`);
}
const different = before === undefined ? [] : differences(before, evidence, PROOFS);
for (const difference of different) process.stdout.write(`${difference}\n`);
if (before !== undefined && different.length === 0)
  process.stdout.write('The run agrees with the one given.\n');
if (different.length > 0 || evidence.results.some(({ holds }) => !holds)) process.exitCode = 1;
