import { freePort } from '../children.ts';
import { Running } from '../contenders/contender.ts';
import { FLOORS } from '../contenders/floors.ts';
import {
  DOWNLOAD,
  type Exchange,
  JSON_POST,
  MIDDLE_DOWN,
  POST_8K,
  SMALL_GET,
  UPLOAD,
} from '../load/exchange.ts';
import { pin, type Saturation, type Subject, saturate, WRK } from '../load/saturate.ts';
import { options } from '../options.ts';
import { median } from '../statistics.ts';
import { fixed, ratio, times } from './figures.ts';
import type { Bench, Result, Row, Verdict } from './row.ts';

const PEERS = ['bearerd', 'HAProxy', 'nginx', '@fastify/http-proxy'];
const FEW = { connections: 64, seconds: options.saturatedSeconds };
const LARGE = { connections: 8, seconds: options.saturatedSeconds };

type Cpu = (name: string) => number | undefined;

/** Each as fast as it can, on a core of its own. */
export const saturatedGet: Row = {
  name: 'saturated-get',
  run: async (bench) => {
    const floors: Running[] = [];
    for (const each of FLOORS) floors.push(await Running.of(each, await freePort(), bench.upstream.plain));
    const result = await run(bench, 'Small GET', SMALL_GET, floors, (cpu) => [
      {
        what: 'saturated: CPU of a small GET, against HAProxy',
        figure: ratio(cpu('bearerd'), cpu('HAProxy')),
        unit: '×',
        target: 2.4,
        must: 3,
      },
      {
        what: 'saturated: the same against @fastify/http-proxy without logs',
        figure: ratio(cpu('bearerd'), cpu('@fastify/http-proxy')),
        unit: '×',
        target: 0.42,
        must: 0.5,
      },
    ]);
    for (const each of floors) await each.stop();
    return result;
  },
};

export const saturatedPost: Row = {
  name: 'saturated-post',
  run: (bench) =>
    run(bench, 'JSON POST', JSON_POST, [], (cpu) => [
      {
        what: 'saturated: CPU of a JSON POST, against HAProxy',
        figure: ratio(cpu('bearerd'), cpu('HAProxy')),
        unit: '×',
        target: 2.8,
        must: 3.4,
      },
    ]),
};

export const saturatedPost8k: Row = {
  name: 'saturated-post-8k',
  run: (bench) =>
    run(bench, 'POST of 8 KiB', POST_8K, [], (cpu) => [
      {
        what: 'saturated: CPU of a POST of 8 KiB, against HAProxy',
        figure: ratio(cpu('bearerd'), cpu('HAProxy')),
        unit: '×',
        target: 2.8,
        must: 3.4,
      },
    ]),
};

export const saturatedMiddle: Row = {
  name: 'saturated-100k',
  run: (bench) =>
    run(bench, '100 KB down', MIDDLE_DOWN, [], (cpu) => [
      {
        what: 'saturated: CPU of 100 KB down, against HAProxy',
        figure: ratio(cpu('bearerd'), cpu('HAProxy')),
        unit: '×',
        target: 1.5,
        must: 2,
      },
      {
        what: 'saturated: the same against nginx',
        figure: ratio(cpu('bearerd'), cpu('nginx')),
        unit: '×',
        target: 1,
        must: 1.3,
      },
    ]),
};

export const saturatedDown: Row = large('saturated-down', '10 MB down', DOWNLOAD);
export const saturatedUp: Row = large('saturated-up', '10 MB up', UPLOAD);

function large(name: string, title: string, exchange: Exchange): Row {
  return {
    name,
    run: (bench) =>
      run(bench, title, exchange, [], (cpu) => [
        {
          what: `saturated: CPU of ${title}, against HAProxy`,
          figure: ratio(cpu('bearerd'), cpu('HAProxy')),
          unit: '×',
          target: 1,
          must: 1.25,
        },
      ]),
  };
}

async function run(
  { fleet, upstream }: Bench,
  title: string,
  exchange: Exchange,
  floors: readonly Subject[],
  judge: (cpu: Cpu) => Verdict[],
): Promise<Result> {
  if (WRK === undefined)
    return { title: `${title}: left out, wrk is not installed`, head: [''], lines: [], verdicts: [] };
  const subjects: Subject[] = [...(await fleet.some(...PEERS)), ...floors];
  pin(upstream.pid, '1');
  const load = exchange === DOWNLOAD || exchange === UPLOAD ? LARGE : FEW;
  const samples = new Map<string, Saturation[]>(subjects.map(({ name }) => [name, []]));
  for (const subject of subjects) await saturate(subject, exchange, load);
  for (let round = 0; round < options.rounds; round++) {
    for (const subject of subjects) samples.get(subject.name)!.push(await saturate(subject, exchange, load));
  }
  const cpu: Cpu = (name) => {
    const of = samples.get(name);
    return of === undefined ? undefined : median(of.map(({ cpuUs }) => cpuUs));
  };
  return {
    title: `${title}, as many as it can: ${load.connections} connections, wrk ${WRK}`,
    head: ['', 'CPU µs a request', 'bearerd is', 'requests a second'],
    lines: subjects.map(({ name }) => [
      name,
      fixed(cpu(name), 1),
      name === 'bearerd' ? '' : times(ratio(cpu('bearerd'), cpu(name))),
      fixed(median(samples.get(name)!.map(({ perSecond }) => perSecond)), 0),
    ]),
    verdicts: judge(cpu),
  };
}
