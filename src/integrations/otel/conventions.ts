import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_METHOD_ORIGINAL,
} from '@opentelemetry/semantic-conventions';

/** Other methods are `_OTHER`, so that clients can't create endless values (HTTP semantic conventions). */
const KNOWN_METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);

export function methodAttributes(method: string): Attributes {
  return KNOWN_METHODS.has(method)
    ? { [ATTR_HTTP_REQUEST_METHOD]: method }
    : { [ATTR_HTTP_REQUEST_METHOD]: '_OTHER', [ATTR_HTTP_REQUEST_METHOD_ORIGINAL]: method };
}

/** What the span's name begins with. */
export function spanMethod(method: string): string {
  return KNOWN_METHODS.has(method) ? method : 'HTTP';
}

/** @param type one of a few values: a status, or a problem's code */
export function fail(span: Span, type: string): void {
  span.setAttribute(ATTR_ERROR_TYPE, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
