import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ageMs, freePort, launch, stop } from '../children.ts';
import { INSTALLED } from '../contenders/all.ts';
import { launchBearerd } from '../contenders/bearerd.ts';
import type { Contender, Launched } from '../contenders/contender.ts';
import { PATHS } from '../fixtures.ts';
import { options } from '../options.ts';
import { cpuMicroseconds } from '../process-stats.ts';
import { median } from '../statistics.ts';
import type { Origin } from '../upstream/upstream.ts';
import { fixed } from './figures.ts';
import type { Row } from './row.ts';

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

/** From the start of the process to the first 200: of bearerd's `/readyz`, which wants the login, or through a peer. */
export const start: Row = {
  name: 'start',
  run: async ({ upstream }) => {
    const starts = new Map<string, Start[]>();
    const note = (name: string, figure: Start) => starts.set(name, [...(starts.get(name) ?? []), figure]);
    for (let n = 0; n < options.starts; n++) {
      for (const contender of INSTALLED) note(contender.name, await startOf(contender, upstream.plain));
      note('Node alone, an empty server', await nodeAlone());
    }
    const middle = (name: string, of: keyof Start) => median(starts.get(name)!.map((figure) => figure[of]));
    return {
      title: 'From start to ready',
      head: ['', 'ms', 'CPU ms'],
      lines: [...starts.keys()].map((name) => [
        name,
        fixed(middle(name, 'ms'), 0),
        fixed(middle(name, 'cpuMs'), 0),
      ]),
      verdicts: [
        {
          what: 'start to ready, login included',
          figure: middle('bearerd', 'ms') / 1_000,
          unit: 's',
          target: 0.2,
          must: 0.3,
        },
      ],
    };
  },
};

async function startOf(contender: Contender, origin: Origin): Promise<Start> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const ours = contender.name === 'bearerd';
  const launched = ours ? launchBearerd(port, adminPort, origin) : await contender.launch(port, origin);
  const figure = await untilReady(launched, ours ? adminPort : port, ours ? '/readyz' : PATHS.small);
  for (const child of [launched.child, ...(launched.helpers ?? [])]) await stop(child);
  return figure;
}

async function untilReady({ child }: Launched, port: number, path: string): Promise<Start> {
  while (!(await isReady(port, path))) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} before it was ready`);
    await sleep(1);
  }
  return { ms: ageMs(child), cpuMs: cpuMicroseconds(child.pid!) / 1_000 };
}

/** By a socket without any HTTP library, since who asks shares two cores with who is asked. */
function isReady(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
    socket.on('data', (chunk) => {
      resolve(chunk.includes('HTTP/1.1 200'));
      socket.destroy();
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  });
}

/** What any program on Node pays: a server that answers 200 to everybody. */
async function nodeAlone(): Promise<Start> {
  const port = await freePort();
  const script = `require('node:http').createServer((_, response) => response.end()).listen(${port}, '127.0.0.1')`;
  const child = launch(process.execPath, ['--eval', script]);
  const figure = await untilReady({ child }, port, '/');
  await stop(child);
  return figure;
}
