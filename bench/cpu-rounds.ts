import type { Running } from './contenders/contender.ts';
import { Crowd } from './load/closed-loop.ts';
import type { Exchange } from './load/exchange.ts';
import { options } from './options.ts';
import { cpuMicroseconds } from './process-stats.ts';
import { median } from './statistics.ts';

export interface Load {
  readonly exchange: Exchange;
  readonly connections: number;
  readonly requests: number;
}

/** Medians over the rounds. */
export interface CpuFigures {
  readonly cpuUs: number;
  readonly perSecond: number;
  /** Of one core, in percent: how much of the time the contender worked. */
  readonly busy: number;
}

/** One run under load. Connections are open, and have been used, before it begins. */
export async function cpuUnder(
  subject: Running,
  { exchange, connections, requests }: Load,
): Promise<CpuFigures> {
  const crowd = await Crowd.to(subject.port, connections, exchange).catch(named(subject));
  const cpuBefore = cpuMicroseconds(subject.pid);
  const startMs = performance.now();
  await crowd.run(exchange, requests).catch(named(subject));
  const seconds = (performance.now() - startMs) / 1_000;
  const cpuUs = cpuMicroseconds(subject.pid) - cpuBefore;
  crowd.close();
  return { cpuUs: cpuUs / requests, perSecond: requests / seconds, busy: cpuUs / seconds / 10_000 };
}

/** Compiled code is measured, since a sidecar runs for weeks: those that warm up do so with the same requests. */
export async function warmUp(subjects: readonly Running[], load: Load, requests: number): Promise<void> {
  for (const subject of subjects) {
    await cpuUnder(subject, { ...load, requests: subject.contender.warmsUp ? requests : load.requests });
  }
}

/** All subjects by turns, so that whatever else the machine does meets all of them. */
export async function cpuRounds(subjects: readonly Running[], load: Load): Promise<Map<Running, CpuFigures>> {
  const samples = new Map<Running, CpuFigures[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (let n = 0; n < subjects.length; n++) {
      const subject = subjects[(n + round) % subjects.length]!;
      samples.get(subject)!.push(await cpuUnder(subject, load));
    }
  }
  return new Map([...samples].map(([subject, figures]) => [subject, middle(figures)]));
}

function middle(figures: readonly CpuFigures[]): CpuFigures {
  return {
    cpuUs: median(figures.map(({ cpuUs }) => cpuUs)),
    perSecond: median(figures.map(({ perSecond }) => perSecond)),
    busy: median(figures.map(({ busy }) => busy)),
  };
}

/** Whose fault it was. */
function named(subject: Running): (error: Error) => never {
  return (error) => {
    const { name, ended } = subject;
    error.message = `${name}${ended === null ? '' : ` (which ended with ${ended})`}: ${error.message}`;
    throw error;
  };
}
