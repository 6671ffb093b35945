import type { Event } from '../base/events.ts';
import { releaseMemory } from '../node/heap.ts';

interface RestOptions {
  /** Requests and tunnels under way. */
  readonly inFlight: () => number;
  readonly release?: () => void;
  readonly residentBytes?: () => number;
  readonly restMs?: number;
}

const REST_MS = 10_000;
/** With fewer requests in that time a process counts as at rest. */
const FEW = 10;
/** Less is not worth the pause of some 50 ms. */
const WORTH_BYTES = 8 * 1024 ** 2;

/**
 * Gives memory back to the system once requests have come to rest, if it has grown since the last time, or since the first
 * event of the start: the event of a request comes at its end, when all under way have taken their memory already. A timer
 * runs only while there is something to wait for. The result takes each event.
 */
export function releaseAtRest(options: RestOptions): (event: Event) => void {
  const { inFlight, release = releaseMemory, restMs = REST_MS } = options;
  const { residentBytes = () => process.memoryUsage.rss() } = options;
  let timer: NodeJS.Timeout | undefined;
  let requests = 0;
  /** Resident bytes at the last release or the first event, or the least at a later burst of requests. */
  let before: number | undefined;
  const look = () => {
    if (inFlight() > 0 || requests >= FEW) {
      requests = 0;
      timer = setTimeout(look, restMs).unref();
      return;
    }
    timer = undefined;
    if (residentBytes() - (before ?? 0) < WORTH_BYTES) return;
    release();
    before = residentBytes();
  };
  return ({ type }) => {
    if (type !== 'request') {
      before ??= residentBytes();
      return;
    }
    requests++;
    if (timer !== undefined) return;
    requests = 1;
    before = Math.min(before ?? 0, residentBytes()); // V8 gives some of it back later.
    timer = setTimeout(look, restMs).unref();
  };
}
