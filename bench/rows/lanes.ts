import type { Running } from '../contenders/contender.ts';
import { type CpuFigures, cpuRounds, warmUp } from '../cpu-rounds.ts';
import { DOWNLOAD, SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { fixed, ratio, times } from './figures.ts';
import type { Row } from './row.ts';

const LOADS = [
  { what: 'small GET', exchange: SMALL_GET, connections: 64, requests: options.requests },
  { what: '10 MB down', exchange: DOWNLOAD, connections: 4, requests: options.transfers },
];

/** What it costs that a HAProxy decides as bearerd does: both processes together, against one with a fixed header. */
export const lanes: Row = {
  name: 'lanes',
  run: async ({ fleet }) => {
    const subjects = await fleet.lanes();
    const [alone, forAll, forSmall] = subjects;
    if (alone === undefined || forAll === undefined || forSmall === undefined)
      return { title: 'Two lanes: left out, HAProxy is not installed', head: [''], lines: [], verdicts: [] };
    const costs: ReadonlyMap<Running, CpuFigures>[] = [];
    for (const load of LOADS) {
      await warmUp(subjects, load, load.requests);
      costs.push(await cpuRounds(subjects, load));
    }
    const cpu = (subject: Running, load: number) => costs[load]!.get(subject)!.cpuUs;
    const against = (subject: Running, load: number) => ratio(cpu(subject, load), cpu(alone, load));
    return {
      title: 'Two lanes: HAProxy in front of bearerd, CPU of both',
      head: ['', 'CPU µs of a small GET', 'to HAProxy', 'CPU µs of 10 MB down', 'to HAProxy'],
      lines: subjects.map((subject) => [
        subject === alone ? 'HAProxy, fixed header' : subject.name,
        ...[0, 1].flatMap((load) => [
          fixed(cpu(subject, load), 1),
          subject === alone ? '' : times(against(subject, load)),
        ]),
      ]),
      verdicts: [
        { what: 'lanes: CPU of a small GET, against HAProxy', figure: against(forAll, 0), ...SMALL },
        { what: 'lanes: the same for small heads', figure: against(forSmall, 0), ...SMALL },
        {
          what: 'lanes: CPU of 10 MB down, against HAProxy',
          figure: against(forAll, 1),
          unit: '×',
          target: 1.1,
        },
      ],
    };
  },
};

const SMALL = { unit: '×', target: 1.2, must: 1.3 } as const;
