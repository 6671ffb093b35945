import type { IncomingMessage } from 'node:http';
import type { RequestEvent, TraceIds } from '../base/events.ts';
import type { Problem } from '../base/problem.ts';
import type { Route } from '../routes/route-table.ts';

/** Traces requests. Forwarding knows only this interface, and has none unless traces are configured. */
export interface Tracing {
  /** Called when a request has come in. Continues the trace that the request names, if it names one. */
  begin(request: IncomingMessage, event: RequestEvent): RequestTrace;
}

/** The trace of one request. The request's event ends it. */
export interface RequestTrace extends TraceIds {
  /** An attempt begins: it asks for a connection. */
  sending(request: TracedRequest): SendingTrace;
}

/** What the span of an attempt tells about the request. */
export interface TracedRequest {
  readonly event: RequestEvent;
  readonly route: Route;
  /** As the upstream gets it. */
  readonly target: string;
}

/** The trace of one attempt. Without `ended` or `failed` it ends with the request. */
export interface SendingTrace {
  /** Called before the request is sent. Puts the trace context into its headers, in place of the client's. */
  carry(headers: string[]): void;
  responded(status: number): void;
  /** The answer is complete. */
  ended(): void;
  /** Called even if no connection was made. */
  failed(problem: Problem): void;
}
