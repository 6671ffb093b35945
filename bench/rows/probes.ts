import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, stop } from '../children.ts';
import { launchBearerd, MAIN } from '../contenders/bearerd.ts';
import { Client } from '../load/client.ts';
import { type Exchange, exchange } from '../load/exchange.ts';
import { childrenCpuMs, exactCpuMs } from '../process-stats.ts';
import { fixed, ratio } from './figures.ts';
import type { Row } from './row.ts';

const NOTHING = Buffer.alloc(0);
const READYZ = exchange('a probe', 'GET', '/readyz', NOTHING);
const WARM_UP = 200;
const PROBES = 500;
const RUNS = 15;
const SETTLE_MS = 3_000;

/** What it costs to be asked whether one is ready: by HTTP, each time on a connection of its own, and by `exec`. */
export const probes: Row = {
  name: 'probes',
  run: async ({ upstream }) => {
    const [port, adminPort, probesPort] = [await freePort(), await freePort(), await freePort()];
    const env = { BEARERD_PROBES_LISTEN: `0.0.0.0:${probesPort}` };
    const { child, helpers = [] } = launchBearerd(port, adminPort, upstream.plain, env);
    await sleep(SETTLE_MS);
    await ask(probesPort, WARM_UP);
    const before = exactCpuMs(child.pid!);
    await ask(probesPort, PROBES);
    const byHttp = (exactCpuMs(child.pid!) - before) / PROBES;
    const asked = { BEARERD_ADMIN_LISTEN: `127.0.0.1:${adminPort}` };
    const byExec = runsMs([MAIN, 'healthcheck'], asked);
    const nothing = runsMs(['--eval', ''], {});
    for (const each of [child, ...helpers]) await stop(each);
    return {
      title: 'One probe',
      head: ['', 'CPU ms'],
      lines: [
        ['httpGet at BEARERD_PROBES_LISTEN', fixed(byHttp, 2)],
        ['exec of bearerd healthcheck', fixed(byExec, 1)],
        ['exec of Node with an empty program', fixed(nothing, 1)],
      ],
      verdicts: [
        {
          what: 'healthcheck: CPU, against an empty Node program',
          figure: ratio(byExec, nothing),
          unit: '×',
          target: 1.5,
          must: 2,
        },
      ],
    };
  },
};

async function ask(port: number, times: number, of: Exchange = READYZ): Promise<void> {
  for (let n = 0; n < times; n++) {
    const client = await Client.to(port);
    await new Promise<void>((resolve, reject) => {
      client.send(of, (error) => (error === undefined ? resolve() : reject(error)));
    });
    client.close();
  }
}

/** CPU of one run, children included. */
function runsMs(args: readonly string[], env: Readonly<Record<string, string>>): number {
  const before = childrenCpuMs();
  for (let n = 0; n < RUNS; n++) {
    const { status } = spawnSync(process.execPath, args, { env: { PATH: process.env.PATH, ...env } });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
  }
  return (childrenCpuMs() - before) / RUNS;
}
