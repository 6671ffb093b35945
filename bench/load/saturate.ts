import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, scratch, versionOf } from '../children.ts';
import type { Running } from '../contenders/contender.ts';
import { cpuMicroseconds } from '../process-stats.ts';
import type { Exchange } from './exchange.ts';

/** Undefined where it is not installed. */
export const WRK = versionOf('wrk', '-v');
const PINS = spawnSync('taskset', ['-V']).error === undefined;

export interface Saturation {
  readonly cpuUs: number;
  readonly perSecond: number;
}

/** The cores: the contender has one for itself, and the load shares the other with the upstream. */
const CONTENDERS_CORE = '0';
const OTHERS_CORE = '1';

/** Keeps a process that runs on one core. */
export function pin(pid: number, core: string): void {
  if (PINS) spawnSync('taskset', ['-acp', core, String(pid)]);
}

/**
 * As many requests as a contender can answer, for some seconds. A contender that never waits works in large batches
 * and is never woken; under a paced load, a fast program pays for being woken each time.
 */
export async function saturate(
  subject: Subject,
  exchange: Exchange,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Saturation> {
  const script = join(scratch, `${exchange.name.replaceAll(' ', '-')}.lua`);
  writeFileSync(script, luaFor(exchange));
  pin(subject.pid, CONTENDERS_CORE);
  const before = cpuMicroseconds(subject.pid);
  const load = launch(
    'wrk',
    ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, `http://127.0.0.1:${subject.port}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  pin(load.pid!, OTHERS_CORE);
  let output = '';
  load.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(load, 'close');
  const requests = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0);
  const wrong = /Non-2xx or 3xx responses: \d+|Socket errors: .*/.exec(output)?.[0];
  if (requests === 0 || wrong !== undefined) throw new Error(`${subject.name}: ${wrong ?? 'no answer'}`);
  return { cpuUs: (cpuMicroseconds(subject.pid) - before) / requests, perSecond: requests / seconds };
}

/** What wrk sends, byte for byte the request that the other loads send. */
function luaFor({ request }: Exchange): string {
  const file = join(scratch, `request-${request.length}`);
  writeFileSync(file, request);
  return `local f = io.open(${JSON.stringify(file)}, "rb")
local raw = f:read("*a")
f:close()
request = function() return raw end
`;
}

export type Subject = Pick<Running, 'name' | 'port' | 'pid'>;
