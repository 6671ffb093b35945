import { type Span, type SpanContext, TraceFlags } from '@opentelemetry/api';
import {
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
} from '@opentelemetry/semantic-conventions';
import type { RequestEvent } from '../../base/events.ts';
import type { Problem } from '../../base/problem.ts';
import type { SendingTrace } from '../../forward/trace.ts';
import { fail } from './conventions.ts';

/** What an attempt's span needs of its request. */
interface Resend {
  /** How often the request was sent before. */
  readonly before: number;
  readonly keepsState: boolean;
}

/** One attempt to send a request: a client span. An attempt that was neither sent nor failed is not exported. */
export class SendingSpan implements SendingTrace {
  sent = false;
  readonly #span: Span;
  readonly #resend: Resend;
  #over = false;

  constructor(span: Span, resend: Resend) {
    this.#span = span;
    this.#resend = resend;
  }

  carry(headers: string[]): void {
    this.sent = true;
    const { before, keepsState } = this.#resend;
    if (before > 0) this.#span.setAttribute(ATTR_HTTP_REQUEST_RESEND_COUNT, before);
    putTraceparent(headers, traceparent(this.#span.spanContext()), keepsState);
  }

  responded(status: number): void {
    this.#span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
    if (status >= 400) fail(this.#span, String(status));
  }

  ended(): void {
    if (this.#over) return;
    this.#over = true;
    this.#span.end();
  }

  failed({ code }: Problem): void {
    fail(this.#span, code);
    this.ended();
  }

  /** Ends the span with its request: the attempt was given up, or has become a tunnel. */
  close({ code, aborted }: RequestEvent): void {
    if (this.#over || !this.sent) return;
    if (code !== undefined) fail(this.#span, code);
    else if (aborted) fail(this.#span, 'cancelled');
    this.ended();
  }
}

/** W3C Trace Context §3.2, version 00. */
function traceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}

/** `tracestate` belongs to the tracing systems that it names: all its lines are kept unchanged, or all are dropped. */
function putTraceparent(headers: string[], value: string, keepsState: boolean): void {
  let kept = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (name === 'traceparent' || (name === 'tracestate' && !keepsState)) continue;
    headers[kept++] = headers[i]!;
    headers[kept++] = headers[i + 1]!;
  }
  headers.length = kept;
  headers.push('traceparent', value);
}
