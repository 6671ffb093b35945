import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../children.ts';
import { INSTALLED } from '../contenders/all.ts';
import { type Contender, Running } from '../contenders/contender.ts';
import { EMPTY_SERVER } from '../contenders/floors.ts';
import { cpuUnder } from '../cpu-rounds.ts';
import { SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { residentMegabytes } from '../process-stats.ts';
import type { Origin } from '../upstream/upstream.ts';
import { fixed, ratio } from './figures.ts';
import type { Row } from './row.ts';

const SETTLE_MS = 3_000;
const LOOK_MS = 50;

interface Memory {
  readonly idle: number;
  readonly few: number;
  readonly many: number;
}

/** Each as a new process, since what came before would stay in its heap. */
export const memory: Row = {
  name: 'memory',
  run: async ({ fleet, upstream }) => {
    await fleet.all(); // Verified, with this configuration.
    const figures = new Map<string, Memory>();
    for (const contender of [...INSTALLED, EMPTY_SERVER])
      figures.set(contender.name, await memoryOf(contender, upstream.plain));
    const own = figures.get('bearerd')!;
    const empty = figures.get(EMPTY_SERVER.name)!;
    return {
      title: 'Resident memory: after the start, and the highest under load',
      head: ['', 'idle MB', '64 connections MB', '2,000 connections MB'],
      lines: [...figures].map(([name, { idle, few, many }]) => [
        name,
        ...[idle, few, many].map((mb) => fixed(mb, 0)),
      ]),
      verdicts: [
        { what: 'memory idle', figure: own.idle, unit: 'MB', target: 60, must: 80 },
        {
          what: "the same against an empty Node server's",
          figure: ratio(own.idle, empty.idle),
          unit: '×',
          target: 1.2,
          must: 1.3,
        },
        { what: 'memory under load, 64 connections', figure: own.few, unit: 'MB', target: 90, must: 120 },
        {
          what: "the same against an empty Node server's",
          figure: ratio(own.few, empty.few),
          unit: '×',
          target: 1.5,
          must: 1.7,
        },
        {
          what: 'memory under load, 2,000 connections',
          figure: own.many,
          unit: 'MB',
          target: 130,
          must: 180,
        },
      ],
    };
  },
};

async function memoryOf(contender: Contender, origin: Origin): Promise<Memory> {
  const running = await Running.of(contender, await freePort(), origin);
  await sleep(SETTLE_MS);
  const idle = residentMegabytes(running.pid);
  const few = await highestUnder(running, 64);
  const many = await highestUnder(running, 2_000);
  await running.stop();
  return { idle, few, many };
}

async function highestUnder(running: Running, connections: number): Promise<number> {
  let highest = 0;
  const look = () => {
    highest = Math.max(highest, residentMegabytes(running.pid));
  };
  const timer = setInterval(look, LOOK_MS);
  await cpuUnder(running, { exchange: SMALL_GET, connections, requests: 2 * options.requests });
  clearInterval(timer);
  look();
  return highest;
}
