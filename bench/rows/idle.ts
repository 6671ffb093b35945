import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../children.ts';
import { bearerd } from '../contenders/bearerd.ts';
import { type Contender, Running } from '../contenders/contender.ts';
import { EMPTY_SERVER } from '../contenders/floors.ts';
import { haproxy } from '../contenders/haproxy.ts';
import { options } from '../options.ts';
import { exactCpuMs, proportionalMegabytes, wakeUps } from '../process-stats.ts';
import type { Origin } from '../upstream/upstream.ts';
import { fixed, ratio } from './figures.ts';
import type { Row } from './row.ts';

/** From then on a process is idle. */
const SETTLE_MS = 12_000;
const PODS = 1_000;

interface Idle {
  /** Of CPU, in each second. */
  readonly ms: number;
  /** Of all threads, in each second. */
  readonly wakeUps: number;
  readonly pssMb: number;
}

/** What a sidecar takes that is not called. */
export const idle: Row = {
  name: 'idle',
  run: async ({ upstream }) => {
    const figures = new Map<string, Idle>();
    for (const contender of [bearerd, haproxy, EMPTY_SERVER])
      if (contender.version !== undefined)
        figures.set(contender.name, await idleOf(contender, upstream.plain));
    const own = figures.get('bearerd')!;
    return {
      title: 'A thousand pods with a sidecar that is not called',
      head: ['', 'CPU ms a second', 'wake-ups a second', 'PSS MB', 'cores for 1,000', 'GB for 1,000'],
      lines: [...figures].map(([name, { ms, wakeUps, pssMb }]) => [
        name,
        fixed(ms, 3),
        fixed(wakeUps, 2),
        fixed(pssMb, 0),
        fixed((ms * PODS) / 1_000, 2),
        fixed((pssMb * PODS) / 1_024, 0),
      ]),
      verdicts: [
        { what: 'idle: CPU a second', figure: own.ms, unit: 'ms', target: 0.1, must: 0.5 },
        { what: 'idle: wake-ups a second', figure: own.wakeUps, unit: '', target: 1, must: 3 },
        { what: 'idle: proportional set size', figure: own.pssMb, unit: 'MB', target: 32, must: 40 },
        {
          what: "the same against an empty Node server's",
          figure: ratio(own.pssMb, figures.get(EMPTY_SERVER.name)!.pssMb),
          unit: '×',
        },
      ],
    };
  },
};

async function idleOf(contender: Contender, origin: Origin): Promise<Idle> {
  const running = await Running.of(contender, await freePort(), origin);
  await sleep(SETTLE_MS);
  const before = { ms: exactCpuMs(running.pid), wakeUps: wakeUps(running.pid), at: performance.now() };
  await sleep(options.idleSeconds * 1_000);
  const seconds = (performance.now() - before.at) / 1_000;
  const figures = {
    ms: (exactCpuMs(running.pid) - before.ms) / seconds,
    wakeUps: (wakeUps(running.pid) - before.wakeUps) / seconds,
    pssMb: proportionalMegabytes(running.pid),
  };
  await running.stop();
  return figures;
}
