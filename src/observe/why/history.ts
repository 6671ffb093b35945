import { totalmem } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Event, RequestEvent } from '../../base/events.ts';
import { heapUse } from '../../node/heap.ts';
import type { LogLoss } from '../log-output.ts';
import { Recent } from '../recent.ts';
import type { Readiness, Status } from '../status.ts';
import { ClockWatch } from './clock-watch.ts';
import type { Memory } from './process-troubles.ts';
import { type Situation, situationOf } from './situation.ts';
import { upstreamOf } from './trouble-words.ts';
import { Troubles } from './troubles.ts';
import { endOf } from './why.ts';

interface HistoryOptions {
  readonly clock: Clock;
  readonly logLoss: () => LogLoss | undefined;
  /** When the process did not run. */
  readonly pauses: () => Parameters<typeof situationOf>[0]['pauses'];
}

/** What happened last, of requests and of the whole process. What people see is made when they look. */
export class History {
  readonly recent: Recent;
  readonly #options: HistoryOptions;
  readonly #troubles: Troubles;
  readonly #clockWatch: ClockWatch;

  constructor(options: HistoryOptions) {
    const { clock } = options;
    this.#options = options;
    this.recent = new Recent(clock);
    this.#troubles = new Troubles(clock);
    this.#clockWatch = new ClockWatch(clock);
  }

  observe(event: Event): void {
    this.recent.observe(event);
    if (event.type === 'request') return;
    this.#clockWatch.look();
    this.#troubles.observe(event);
  }

  situation(readiness: Readiness, status: Status): Situation {
    const { clock, logLoss, pauses } = this.#options;
    this.#clockWatch.look();
    const nowMs = clock.wallMs();
    const requests = this.recent.known;
    return situationOf({
      nowMs,
      bootMs: nowMs - clock.monoMs(),
      pid: process.pid,
      readiness,
      status,
      requests,
      troubles: this.#troubles.list((subject, sinceMonoMs) => servedAfter(requests, subject, sinceMonoMs)),
      jumps: this.#clockWatch.jumps,
      pauses: pauses(),
      logLoss: logLoss(),
      memory: memoryInUse(),
    });
  }
}

/** When a route's upstream answered again after it had failed; -1 if it has not, or if the subject is no upstream. */
function servedAfter(requests: readonly RequestEvent[], subject: string, sinceMonoMs: number): number {
  let first = -1;
  for (const request of requests) {
    const { route, code, aborted, attempt } = request;
    const endMonoMs = endOf(request);
    if (endMonoMs <= sinceMonoMs) break;
    if (code === undefined && !aborted && attempt !== undefined && upstreamOf(route) === subject)
      first = endMonoMs;
  }
  return first;
}

function memoryInUse(): Memory {
  const constrained = process.constrainedMemory();
  return {
    ...heapUse(),
    residentBytes: process.memoryUsage.rss(),
    peakBytes: process.resourceUsage().maxRSS * 1024,
    allowedBytes: constrained > 0 && constrained < totalmem() ? constrained : undefined,
  };
}
