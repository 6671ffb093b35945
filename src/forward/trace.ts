import type { IncomingMessage } from 'node:http';
import type { Problem } from '../base/errors.ts';
import type { RequestEvent, TraceIds } from '../base/events.ts';
import type { Forwardable } from './forwardable.ts';

/** Follows requests for a tracing system; there only where one is configured. Forwarding knows no more of it than this. */
export interface Tracing {
  /** A request has come in. It goes on from the trace that the request names, if it names one. */
  begin(request: IncomingMessage, event: RequestEvent): RequestTrace;
}

/** One request. Its end is told by its event, like any other. */
export interface RequestTrace extends TraceIds {
  /** A connection is looked for, for the first time or once more. */
  sending(forwardable: Forwardable): SendingTrace;
}

/** One sending of it. What of these is never called, the end of the request stands for. */
export interface SendingTrace {
  /** It goes up now: says in its headers what it belongs to, in the place of what the client said. */
  carry(headers: string[]): void;
  responded(status: number): void;
  /** The answer is whole. */
  ended(): void;
  /** Also where no connection was made. */
  failed(problem: Problem): void;
}
