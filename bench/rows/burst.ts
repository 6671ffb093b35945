import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../children.ts';
import { bearerd } from '../contenders/bearerd.ts';
import { type Contender, Running } from '../contenders/contender.ts';
import { EMPTY_SERVER } from '../contenders/floors.ts';
import { haproxy } from '../contenders/haproxy.ts';
import { Crowd } from '../load/closed-loop.ts';
import { SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { proportionalMegabytes } from '../process-stats.ts';
import type { Origin } from '../upstream/upstream.ts';
import { fixed, ratio, times } from './figures.ts';
import type { Row } from './row.ts';

const SETTLE_MS = 12_000;
const CROWD = 2_000;

interface Burst {
  readonly before: number;
  readonly during: number;
  readonly after: number;
}

/** What stays of the memory that many connections took. */
export const burst: Row = {
  name: 'burst',
  run: async ({ upstream }) => {
    const figures = new Map<string, Burst>();
    for (const contender of [bearerd, haproxy, EMPTY_SERVER])
      if (contender.version !== undefined)
        figures.set(contender.name, await burstOf(contender, upstream.plain));
    const own = figures.get('bearerd')!;
    const kept = ({ before, after }: Burst) => ratio(after, before);
    return {
      title: `Proportional set size before, during and ${options.restSeconds} s after 2,000 connections`,
      head: ['', 'before MB', 'during MB', 'after MB', 'after over before'],
      lines: [...figures].map(([name, figure]) => [
        name,
        ...[figure.before, figure.during, figure.after].map((mb) => fixed(mb, 0)),
        times(kept(figure)),
      ]),
      verdicts: [
        {
          what: 'memory after 2,000 connections, over before',
          figure: kept(own),
          unit: '×',
          target: 1.05,
          must: 1.15,
        },
      ],
    };
  },
};

async function burstOf(contender: Contender, origin: Origin): Promise<Burst> {
  const running = await Running.of(contender, await freePort(), origin);
  await sleep(SETTLE_MS);
  const before = proportionalMegabytes(running.pid);
  const crowd = await Crowd.to(running.port, CROWD, SMALL_GET);
  await crowd.run(SMALL_GET, 2 * options.requests);
  const during = proportionalMegabytes(running.pid);
  crowd.close();
  await sleep(options.restSeconds * 1_000);
  const after = proportionalMegabytes(running.pid);
  await running.stop();
  return { before, during, after };
}
