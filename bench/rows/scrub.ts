import { cpuRounds, warmUp } from '../cpu-rounds.ts';
import { DOWNLOAD, SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { fixed, ratio, times } from './figures.ts';
import type { Row } from './row.ts';

/** What it costs to look for the token in answers that don't hold it. */
export const scrub: Row = {
  name: 'scrub',
  run: async ({ fleet }) => {
    const [without, withScrub] = await fleet.scrubbing();
    const loads = [
      { what: '10 MB down', exchange: DOWNLOAD, connections: 4, requests: options.transfers },
      { what: 'small GET', exchange: SMALL_GET, connections: 64, requests: options.requests },
    ];
    const costs = [];
    for (const load of loads) {
      await warmUp([without, withScrub], load, 2 * load.requests);
      const figures = await cpuRounds([without, withScrub], load);
      costs.push([figures.get(without)!.cpuUs, figures.get(withScrub)!.cpuUs] as const);
    }
    return {
      title: 'With and without scrub',
      head: ['', 'CPU µs without', 'CPU µs with', 'with is'],
      lines: costs.map(([off, on], n) => [
        loads[n]!.what,
        fixed(off, 1),
        fixed(on, 1),
        times(ratio(on, off)),
      ]),
      verdicts: [
        {
          what: 'CPU of 10 MB down with scrub, against without',
          figure: ratio(costs[0]![1], costs[0]![0]),
          unit: '×',
          target: 1.05,
        },
      ],
    };
  },
};
