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

/** What all exchanges of a process share. */
export interface ForwardContext {
  readonly clock: Clock;
  readonly observe: Observe;
  readonly watchdog: Watchdog;
  readonly scrubbing: ScrubbingContext;
  /** Detects clients that leave while their connection is not read. */
  readonly departures: Departures;
  /** Called with the size of each piece of a body or tunnel, in either direction, whose memory is garbage afterwards. */
  readonly bytesPassed: (bytes: number) => void;
  /** `1.1 bearerd (id)`: the ID lets this process recognise a request that comes back to it. */
  readonly via: string;
  /** Undefined if no traces are configured. */
  readonly tracing: Tracing | undefined;
  /** The process stops soon: each connection is closed after its answer. */
  readonly stopping: () => boolean;
  /** New requests are refused. */
  readonly draining: () => boolean;
}

/** A request that may be forwarded, with all that admission has found out about it. */
export interface Forwardable extends ClientSide {
  readonly head: RequestHead;
  readonly route: Route;
  readonly pool: UpstreamPool;
  /** Path and query as the upstream gets them, but for a credential in the query. */
  readonly target: string;
  /** Pages of other origins may call, so that each answer says that it depends on `Origin`. */
  readonly variesByOrigin: boolean;
  readonly dropCookies: boolean;
  readonly trace: RequestTrace | undefined;
  /** The client has sent its own credential and the route lets it pass, so the route's credential is not sent. */
  readonly keepsClientCredential: boolean;
  /** The names of the caller's routes: an answer tells of no other route. Undefined if it may use all. */
  readonly ownRoutes: ReadonlySet<string> | undefined;
}
