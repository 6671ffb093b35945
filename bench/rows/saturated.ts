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

const OWN_GET = 'bearerd, a small GET';
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
        target: 2,
        must: 2.5,
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

export const saturatedPost: Row = post('saturated-post', 'JSON POST', JSON_POST, [
  { what: 'saturated: CPU of a JSON POST, against HAProxy', target: 2.4, must: 2.8 },
  { what: 'saturated: CPU of a JSON POST, against a small GET', target: 1.15, must: 1.25 },
]);

export const saturatedPost8k: Row = post('saturated-post-8k', 'POST of 8 KiB', POST_8K, [
  { what: 'saturated: CPU of a POST of 8 KiB, against HAProxy' },
  { what: 'saturated: CPU of a POST of 8 KiB, against a small GET', target: 1.15, must: 1.25 },
]);

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

export const saturatedDown: Row = large('saturated-down', '10 MB down', DOWNLOAD, { target: 1, must: 1.25 });
export const saturatedUp: Row = large('saturated-up', '10 MB up', UPLOAD, { target: 1.1, must: 1.4 });

/** A subject may send requests of its own in place of the row's. */
type Contest = Subject & { readonly exchange?: Exchange };

type Limits = Pick<Verdict, 'what' | 'target' | 'must'>;

/** Compared with HAProxy, and with a small GET through bearerd in the same rounds. */
function post(
  name: string,
  title: string,
  exchange: Exchange,
  [overHaproxy, overGet]: readonly [Limits, Limits],
): Row {
  return {
    name,
    run: async (bench) => {
      const [bearerd] = await bench.fleet.some('bearerd');
      const get = { name: OWN_GET, port: bearerd!.port, pid: bearerd!.pid, exchange: SMALL_GET };
      return run(bench, title, exchange, [get], (cpu) => [
        { ...overHaproxy, figure: ratio(cpu('bearerd'), cpu('HAProxy')), unit: '×' },
        { ...overGet, figure: ratio(cpu('bearerd'), cpu(OWN_GET)), unit: '×' },
      ]);
    },
  };
}

function large(name: string, title: string, exchange: Exchange, limits: Omit<Limits, 'what'>): Row {
  return {
    name,
    run: (bench) =>
      run(bench, title, exchange, [], (cpu) => [
        {
          what: `saturated: CPU of ${title}, against HAProxy`,
          figure: ratio(cpu('bearerd'), cpu('HAProxy')),
          unit: '×',
          ...limits,
        },
      ]),
  };
}

async function run(
  { fleet, upstream }: Bench,
  title: string,
  exchange: Exchange,
  others: readonly Contest[],
  judge: (cpu: Cpu) => Verdict[],
): Promise<Result> {
  if (WRK === undefined)
    return { title: `${title}: left out, wrk is not installed`, head: [''], lines: [], verdicts: [] };
  const subjects: readonly Contest[] = [...(await fleet.some(...PEERS)), ...others];
  pin(upstream.pid, '1');
  const load = exchange === DOWNLOAD || exchange === UPLOAD ? LARGE : FEW;
  const samples = new Map<string, Saturation[]>(subjects.map(({ name }) => [name, []]));
  for (const subject of subjects) await saturate(subject, subject.exchange ?? exchange, load);
  for (let round = 0; round < options.rounds; round++) {
    for (const subject of subjects)
      samples.get(subject.name)!.push(await saturate(subject, subject.exchange ?? exchange, load));
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
