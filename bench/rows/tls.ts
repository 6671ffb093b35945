import { cpuUnder, warmUp } from '../cpu-rounds.ts';
import { SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { median } from '../statistics.ts';
import { fixed, times } from './figures.ts';
import type { Row } from './row.ts';

/** What TLS 1.3 to the upstream adds, with a private authority, and whether connections are used again. */
export const tls: Row = {
  name: 'tls',
  run: async ({ fleet, upstream }) => {
    const secure = await fleet.secure();
    const plain = await fleet.some(...secure.map(({ name }) => name));
    const load = { exchange: SMALL_GET, connections: 64, requests: options.requests };
    await warmUp([...plain, ...secure], load, options.warmUp);
    const names = secure.map(({ name }) => name);
    const figures = names.map(() => ({ plain: [] as number[], secure: [] as number[], handshakes: 0 }));
    for (let round = 0; round < options.rounds; round++) {
      for (const [n, figure] of figures.entries()) {
        figure.plain.push((await cpuUnder(plain[n]!, load)).cpuUs);
        const before = await upstream.counts();
        figure.secure.push((await cpuUnder(secure[n]!, load)).cpuUs);
        figure.handshakes += (await upstream.counts()).handshakes - before.handshakes;
      }
    }
    const requests = options.rounds * options.requests;
    const cost = figures.map((figure) => median(figure.secure) / median(figure.plain));
    return {
      title: `Small GET over TLS 1.3 to the upstream, 64 connections, ${requests.toLocaleString('en')} requests`,
      head: ['', 'CPU µs plain', 'CPU µs TLS', 'TLS is', 'handshakes'],
      lines: names.map((name, n) => [
        name,
        fixed(median(figures[n]!.plain), 1),
        fixed(median(figures[n]!.secure), 1),
        times(cost[n]),
        String(figures[n]!.handshakes),
      ]),
      verdicts: [
        { what: 'CPU over TLS 1.3, against plain', figure: cost[0], unit: '×', target: 1.3 },
        {
          what: 'TLS handshakes for 100 requests',
          figure: (figures[0]!.handshakes / requests) * 100,
          unit: '',
          target: 1,
          must: 1,
        },
      ],
    };
  },
};
