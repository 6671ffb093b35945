import { cpuRounds, warmUp } from '../cpu-rounds.ts';
import { DOWNLOAD, UPLOAD } from '../load/exchange.ts';
import { options } from '../options.ts';
import { byName, fixed, ratio, times } from './figures.ts';
import type { Row } from './row.ts';

const CONNECTIONS = 4;

export const largeBodies: Row = {
  name: 'large',
  run: async ({ fleet }) => {
    const subjects = await fleet.all();
    const figures = [];
    for (const exchange of [DOWNLOAD, UPLOAD]) {
      const load = { exchange, connections: CONNECTIONS, requests: options.transfers };
      await warmUp(subjects, load, 2 * options.transfers);
      figures.push(await cpuRounds(subjects, load));
    }
    const [down, up] = figures.map((each) => (name: string) => byName(each, name)?.cpuUs) as [Cpu, Cpu];
    return {
      title: 'Bodies of 10 MB, four connections',
      head: ['', 'CPU ms down', 'bearerd is', 'CPU ms up', 'bearerd is'],
      lines: subjects.map(({ name }) => [
        name,
        ...[down, up].flatMap((cpu) => [
          fixed(cpu(name)! / 1_000, 2),
          name === 'bearerd' ? '' : times(ratio(cpu('bearerd'), cpu(name))),
        ]),
      ]),
      verdicts: [
        {
          what: 'CPU of 10 MB down, against HAProxy',
          figure: ratio(down('bearerd'), down('HAProxy')),
          ...LIMITS,
        },
        { what: 'CPU of 10 MB up, against HAProxy', figure: ratio(up('bearerd'), up('HAProxy')), ...LIMITS },
      ],
    };
  },
};

type Cpu = (name: string) => number | undefined;

const LIMITS = { unit: '×', target: 1.3, must: 1.8 } as const;
