import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import {
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_NETWORK_PROTOCOL_VERSION,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
} from '@opentelemetry/semantic-conventions';
import type { RequestEvent } from '../../base/events.ts';
import { PROBLEMS } from '../../base/problem.ts';
import { bareHost } from '../../config/values/addresses.ts';
import type { RequestTrace, SendingTrace, TracedRequest } from '../../forward/trace.ts';
import { fail, methodAttributes, spanMethod } from './conventions.ts';
import { SendingSpan } from './sending-span.ts';

/** A request as its client sees it: a server span. Each attempt to send it upstream is a child. */
export class RequestSpan implements RequestTrace {
  readonly traceId: string;
  readonly spanId: string;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  /** The span continues the client's trace, so the client's `tracestate` is sent upstream, too. */
  readonly #continued: boolean;
  readonly #sendings: SendingSpan[] = [];

  constructor(tracer: Tracer, request: IncomingMessage, event: RequestEvent) {
    const parent = parentOf(request);
    this.#continued = parent !== undefined;
    this.#tracer = tracer;
    this.#span = tracer.startSpan(
      event.route === '' ? spanMethod(event.method) : `${spanMethod(event.method)} ${prefixOf(event.route)}`,
      { kind: SpanKind.SERVER, attributes: requestAttributes(request, event) },
      parent ?? ROOT_CONTEXT,
    );
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span);
    const { traceId, spanId } = this.#span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
  }

  sending({ event, route, target }: TracedRequest): SendingTrace {
    const url = new URL(route.upstreamOrigin);
    const end = target.indexOf('?');
    const attributes: Attributes = {
      ...methodAttributes(event.method),
      ...bearerdAttributes(event),
      // Without the query, which may hold secrets, bearerd's own among them.
      [ATTR_URL_FULL]: route.upstreamOrigin + (end === -1 ? target : target.slice(0, end)),
      [ATTR_SERVER_ADDRESS]: bareHost(url.hostname),
      [ATTR_SERVER_PORT]: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    };
    const name = spanMethod(event.method);
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, this.#context);
    const before = this.#sendings.filter(({ sent }) => sent).length;
    const sending = new SendingSpan(span, { before, keepsState: this.#continued });
    this.#sendings.push(sending);
    return sending;
  }

  end(event: RequestEvent): void {
    for (const sending of this.#sendings) sending.close(event);
    const { status, code } = event;
    if (status > 0) this.#span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
    if (code !== undefined) this.#span.setAttribute('bearerd.code', code);
    if (event.caller) this.#span.setAttribute('bearerd.caller', event.caller);
    if (event.aborted) this.#span.setAttribute('bearerd.aborted', true);
    // If an answer broke off, its status is the one that it began with.
    const brokenOff = code !== undefined && PROBLEMS[code].status !== status;
    if (status >= 500 || brokenOff) fail(this.#span, code ?? String(status));
    this.#span.end();
  }
}

/** Node joins two `traceparent` lines into one value, which is malformed. */
function parentOf({ headers }: IncomingMessage): Context | undefined {
  const { traceparent, tracestate } = headers;
  const parent = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
  if (parent === null) return undefined;
  const traceState = typeof tracestate === 'string' ? { traceState: createTraceState(tracestate) } : {};
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, ...traceState, isRemote: true });
}

function requestAttributes({ httpVersion, socket }: IncomingMessage, event: RequestEvent): Attributes {
  return {
    ...methodAttributes(event.method),
    ...bearerdAttributes(event),
    [ATTR_URL_PATH]: event.path,
    [ATTR_URL_SCHEME]: socket instanceof TLSSocket ? 'https' : 'http',
    [ATTR_NETWORK_PROTOCOL_VERSION]: httpVersion,
    ...(event.route !== '' && { [ATTR_HTTP_ROUTE]: prefixOf(event.route) }), // bearerd does not know the API's own routes.
  };
}

/** `http.route` is a path, so the route's host is left out. */
function prefixOf(route: string): string {
  return route.replace(/^\/\/[^/]*/, '');
}

function bearerdAttributes({ route, credential }: RequestEvent): Attributes {
  return route === '' ? {} : { 'bearerd.route': route, 'bearerd.credential': credential };
}
