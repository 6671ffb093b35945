import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../children.ts';
import { INSTALLED } from '../contenders/all.ts';
import { type Contender, Running } from '../contenders/contender.ts';
import { EMPTY_SERVER } from '../contenders/floors.ts';
import { cpuUnder } from '../cpu-rounds.ts';
import { type Exchange, JSON_POST, SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { residentMegabytes } from '../process-stats.ts';
import type { Origin } from '../upstream/upstream.ts';
import { fixed, ratio } from './figures.ts';
import type { Row } from './row.ts';

const SETTLE_MS = 3_000;
const LOOK_MS = 50;
const UNDER_LOAD = { unit: '×', target: 1.5, must: 1.7 } as const;

interface Memory {
  readonly idle: number;
  readonly gets: number;
  readonly posts: number;
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
      head: ['', 'idle MB', 'GET, 64 connections MB', 'POST, 64 connections MB', 'GET, 2,000 connections MB'],
      lines: [...figures].map(([name, { idle, gets, posts, many }]) => [
        name,
        ...[idle, gets, posts, many].map((mb) => fixed(mb, 0)),
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
        { what: 'memory under load of GET, 64 connections', figure: own.gets, unit: 'MB' },
        {
          what: "the same against an idle empty Node server's",
          figure: ratio(own.gets, empty.idle),
          ...UNDER_LOAD,
        },
        { what: 'memory under load of POST, 64 connections', figure: own.posts, unit: 'MB' },
        {
          what: "the same against an idle empty Node server's",
          figure: ratio(own.posts, empty.idle),
          ...UNDER_LOAD,
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
  const gets = await highestUnder(running, 64, SMALL_GET);
  const posts = await highestUnder(running, 64, JSON_POST);
  const many = await highestUnder(running, 2_000, SMALL_GET);
  await running.stop();
  return { idle, gets, posts, many };
}

async function highestUnder(running: Running, connections: number, exchange: Exchange): Promise<number> {
  let highest = 0;
  const look = () => {
    highest = Math.max(highest, residentMegabytes(running.pid));
  };
  const timer = setInterval(look, LOOK_MS);
  await cpuUnder(running, { exchange, connections, requests: 2 * options.requests });
  clearInterval(timer);
  look();
  return highest;
}
