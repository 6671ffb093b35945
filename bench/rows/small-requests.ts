import { type CpuFigures, cpuRounds, warmUp } from '../cpu-rounds.ts';
import type { Exchange } from '../load/exchange.ts';
import { JSON_POST, SMALL_GET } from '../load/exchange.ts';
import { options } from '../options.ts';
import { byName, fixed, ratio, times } from './figures.ts';
import type { Bench, Result, Row, Verdict } from './row.ts';

const CONNECTIONS = 64;

export const smallGet: Row = {
  name: 'get',
  run: (bench) =>
    run(bench, 'Small GET: an answer of 0.3 KB, 64 connections', SMALL_GET, (cpu) => [
      {
        what: 'CPU of a small GET, against HAProxy',
        figure: ratio(cpu('bearerd'), cpu('HAProxy')),
        unit: '×',
        target: 1.8,
        must: 2.5,
      },
      {
        what: 'the same against @fastify/http-proxy without logs',
        figure: ratio(cpu('bearerd'), cpu('@fastify/http-proxy')),
        unit: '×',
        target: 0.45,
        must: 0.55,
      },
    ]),
};

export const jsonPost: Row = {
  name: 'post',
  run: (bench) =>
    run(bench, 'JSON POST: 1 KB up, 0.3 KB down, 64 connections', JSON_POST, (cpu) => [
      {
        what: 'CPU of a JSON POST, against HAProxy',
        figure: ratio(cpu('bearerd'), cpu('HAProxy')),
        unit: '×',
        target: 2.2,
        must: 3,
      },
    ]),
};

async function run(
  { fleet }: Bench,
  title: string,
  exchange: Exchange,
  judge: (cpu: (name: string) => number | undefined) => Verdict[],
): Promise<Result> {
  const subjects = await fleet.all();
  const load = { exchange, connections: CONNECTIONS, requests: options.requests };
  await warmUp(subjects, load, options.warmUp);
  const figures = await cpuRounds(subjects, load);
  const cpu = (name: string) => byName(figures, name)?.cpuUs;
  return { title, head: CPU_HEAD, lines: cpuLines(figures), verdicts: judge(cpu) };
}

const CPU_HEAD = ['', 'CPU µs a request', 'bearerd is', 'requests a second', 'busy'];

function cpuLines(figures: ReadonlyMap<{ readonly name: string }, CpuFigures>): string[][] {
  const own = byName(figures, 'bearerd')?.cpuUs;
  return [...figures].map(([{ name }, { cpuUs, perSecond, busy }]) => [
    name,
    fixed(cpuUs, 1),
    name === 'bearerd' ? '' : times(ratio(own, cpuUs)),
    fixed(perSecond, 0),
    `${fixed(busy, 0)} %`,
  ]);
}
