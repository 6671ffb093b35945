import type { Clock } from '../base/clock.ts';
import type { Observe } from '../base/events.ts';
import type { Route } from '../routes/route-table.ts';
import type { UpstreamPool } from '../upstream/pools.ts';
import type { ClientSide } from './client/client-side.ts';
import type { Departures } from './client/departures.ts';
import type { RequestHead } from './client/request-head.ts';
import type { ScrubbingContext } from './scrub/scrubbing.ts';
import type { RequestTrace, Tracing } from './trace.ts';
import type { Watchdog } from './watchdog.ts';

/** What every exchange of one process shares. */
export interface ForwardContext {
  readonly clock: Clock;
  readonly observe: Observe;
  readonly watchdog: Watchdog;
  readonly scrubbing: ScrubbingContext;
  /** Looks after clients that nothing is read from at present. */
  readonly departures: Departures;
  /** Called with the size of each piece of a body or tunnel, in either direction, that leaves garbage behind. */
  readonly bytesPassed: (bytes: number) => void;
  /** `1.1 bearerd (id)`: names this process, so that it recognises a request that comes back. */
  readonly via: string;
  /** Undefined where no traces are configured. */
  readonly tracing: Tracing | undefined;
  /** The process is about to stop: connections are not kept. */
  readonly stopping: () => boolean;
  /** No new request is taken. */
  readonly draining: () => boolean;
}

/** A request that may be forwarded, and all that has been found out about it. */
export interface Forwardable extends ClientSide {
  readonly head: RequestHead;
  readonly route: Route;
  readonly pool: UpstreamPool;
  /** Path and query for the upstream. */
  readonly target: string;
  readonly dropCookies: boolean;
  readonly trace: RequestTrace | undefined;
  /** The client sent a credential of its own, and the route lets it pass: ours is not sent. */
  readonly keepsClientCredential: boolean;
}
