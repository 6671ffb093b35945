import type { IncomingMessage } from 'node:http';
import type { RequestEvent, TraceIds } from '../base/events.ts';
import type { Problem } from '../base/problem.ts';
import type { Route } from '../routes/route-table.ts';

/** Traces requests; set only where tracing is configured. Forwarding knows no more of it than this. */
export interface Tracing {
  /** A request has come in. It continues the trace that the request names, if it names one. */
  begin(request: IncomingMessage, event: RequestEvent): RequestTrace;
}

/** One request. Its event reports its end. */
export interface RequestTrace extends TraceIds {
  /** An attempt begins: it asks for a connection. */
  sending(request: TracedRequest): SendingTrace;
}

/** What an attempt's span says of the request. */
export interface TracedRequest {
  readonly event: RequestEvent;
  readonly route: Route;
  /** As it goes up. */
  readonly target: string;
}

/** One attempt. An attempt without a call for its end ends with the request. */
export interface SendingTrace {
  /** The request is sent now. Writes the trace context into its headers, in place of the client's. */
  carry(headers: string[]): void;
  responded(status: number): void;
  /** The answer is whole. */
  ended(): void;
  /** Also where no connection was made. */
  failed(problem: Problem): void;
}
