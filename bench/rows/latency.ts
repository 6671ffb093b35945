import { SMALL_GET, withCredential } from '../load/exchange.ts';
import { Pacer } from '../load/open-loop.ts';
import { options } from '../options.ts';
import { median, percentile } from '../statistics.ts';
import { fixed } from './figures.ts';
import type { Row } from './row.ts';

const PER_SECOND = 500;
const SECONDS = 2;

interface Round {
  readonly p50: number;
  readonly p99: number;
}

/** What a contender adds to the time that the upstream itself takes: both in each round, the medians of the differences. */
export const latency: Row = {
  name: 'latency',
  run: async ({ fleet, upstream }) => {
    const contenders = await fleet.all();
    const direct = { name: 'direct', port: upstream.plain.port };
    const rounds: Map<string, Round>[] = [];
    for (let round = 0; round <= options.latencyRounds; round++) {
      const figures = new Map<string, Round>();
      for (const { name, port } of [direct, ...contenders]) {
        const exchange = name === 'direct' ? withCredential(SMALL_GET) : SMALL_GET;
        const pacer = new Pacer(port);
        // Connections are open, to both sides.
        await pacer.run(exchange, PER_SECOND, 0.2);
        const times = await pacer.run(exchange, PER_SECOND, SECONDS);
        pacer.close();
        figures.set(name, { p50: median(times), p99: percentile(times, 0.99) });
      }
      if (round > 0) rounds.push(figures); // The first one warms up.
    }
    const added = (name: string, of: keyof Round) =>
      median(
        rounds.map((round) => round.get(name)![of] - (name === 'direct' ? 0 : round.get('direct')![of])),
      );
    return {
      title: `Added latency at ${PER_SECOND} requests a second, over direct`,
      head: ['', 'p50 ms', 'p99 ms'],
      lines: [...rounds[0]!.keys()].map((name) => [
        name === 'direct' ? 'direct (all of it)' : name,
        fixed(added(name, 'p50'), 3),
        fixed(added(name, 'p99'), 3),
      ]),
      verdicts: [
        { what: 'added latency, p50', figure: added('bearerd', 'p50'), unit: 'ms', target: 0.15, must: 0.25 },
        { what: 'added latency, p99', figure: added('bearerd', 'p99'), unit: 'ms', target: 1, must: 2 },
      ],
    };
  },
};
