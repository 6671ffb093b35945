import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { type Contender, startContenders } from './contenders.ts';

/**
 * CPU time of each contender's process per request, in interleaved rounds, as medians and as multiples of the
 * first peer. Reads /proc, so it runs on Linux. Times of a shared machine say little; ratios in one run do.
 */
const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 20_000);
const CLOCK_TICK_US = 10_000;

interface Scenario {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly body?: Buffer;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'small GET', method: 'GET' },
  { name: 'JSON POST, 1 KB', method: 'POST', body: Buffer.from(JSON.stringify({ text: 'x'.repeat(1_000) })) },
];

/** User and system time of a process so far. */
function cpuMicroseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_US;
}

function memoryMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

async function load(url: string, { method, body }: Scenario, requests: number): Promise<void> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  let left = requests;
  const worker = async () => {
    while (left-- > 0) {
      const response = await pool.request({
        path: '/api/people/v1/o_1/find',
        method,
        body: body ?? null,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
      });
      const bytes = await response.body.arrayBuffer();
      // A contender that skips its work would look fast.
      const right = response.headers['x-authorization'] === 'Bearer bench-token' && bytes.byteLength === 300;
      if (response.statusCode !== 200 || !right) throw new Error(`a wrong answer: ${response.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await pool.close();
}

async function ready({ url, name }: Contender): Promise<void> {
  for (let n = 0; n < 200; n++) {
    const answered = await fetch(url).then(
      async (response) => (await response.arrayBuffer()).byteLength > 0 && response.status === 200,
      () => false,
    );
    if (answered) return;
    await sleep(50);
  }
  throw new Error(`${name} does not answer`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function measure(contenders: readonly Contender[], scenario: Scenario): Promise<void> {
  const figures = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (const { url } of contenders) await load(url, scenario, REQUESTS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of contenders) {
      const before = cpuMicroseconds(contender.child.pid!);
      await load(contender.url, scenario, REQUESTS);
      figures.get(contender)!.push((cpuMicroseconds(contender.child.pid!) - before) / REQUESTS);
    }
  }
  const own = median(figures.get(contenders[0]!)!);
  for (const contender of contenders) {
    const each = median(figures.get(contender)!);
    const ratio = contender === contenders[0] ? '' : `  bearerd is ${(own / each).toFixed(2)} of it`;
    const memory = memoryMegabytes(contender.child.pid!).toFixed(0).padStart(4);
    console.log(
      `${scenario.name.padEnd(16)} ${contender.name.padEnd(20)} ${each.toFixed(1).padStart(6)} µs CPU a request ${memory} MB${ratio}`,
    );
  }
}

const upstream = spawn(process.execPath, [fileURLToPath(new URL('upstream.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [port] = await new Promise<string[]>((resolve) =>
  createInterface(upstream.stdout).once('line', (line) => resolve([line])),
);
const contenders = await startContenders(`http://127.0.0.1:${port}`);
try {
  await Promise.all(contenders.map(ready));
  console.log(
    `Node ${process.version}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${REQUESTS} requests each`,
  );
  for (const scenario of SCENARIOS) await measure(contenders, scenario);
} finally {
  for (const { child } of contenders) child.kill();
  upstream.kill();
}
