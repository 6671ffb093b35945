import { cpuUnder, warmUp } from '../cpu-rounds.ts';
import { SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { median } from '../statistics.ts';
import { fixed } from './figures.ts';
import type { Row } from './row.ts';

const CROWDS = [8, 64, 512, 2_000];
/** So that what is measured is not the first requests of each connection. */
const PER_CONNECTION = 10;

/** Whether a request costs more when there are many connections. */
export const connections: Row = {
  name: 'connections',
  run: async ({ fleet }) => {
    const subjects = await fleet.some('bearerd', 'HAProxy', 'nginx', '@fastify/http-proxy');
    const load = { exchange: SMALL_GET, connections: 64, requests: options.requests };
    await warmUp(subjects, load, options.warmUp);
    const samples = new Map(subjects.map(({ name }) => [name, CROWDS.map((): number[] => [])]));
    for (let round = 0; round < options.rounds; round++) {
      for (const [n, size] of CROWDS.entries()) {
        for (const subject of subjects) {
          const { cpuUs } = await cpuUnder(subject, {
            ...load,
            connections: size,
            requests: Math.max(load.requests, PER_CONNECTION * size),
          });
          samples.get(subject.name)![n]!.push(cpuUs);
        }
      }
    }
    const costs = new Map([...samples].map(([name, bySize]) => [name, bySize.map(median)]));
    const spread = (of: readonly number[]) => (Math.max(...of) / Math.min(...of) - 1) * 100;
    return {
      title: 'Small GET by number of connections: CPU µs a request',
      head: ['', ...CROWDS.map((size) => size.toLocaleString('en')), 'highest over lowest'],
      lines: [...costs].map(([name, of]) => [
        name,
        ...of.map((us) => fixed(us, 1)),
        `+${fixed(spread(of), 0)} %`,
      ]),
      verdicts: [
        {
          what: 'cost from 8 to 2,000 connections: highest over lowest',
          figure: spread(costs.get('bearerd')!),
          unit: '%',
          target: 20,
          must: 40,
        },
      ],
    };
  },
};
