import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_METHOD_ORIGINAL,
} from '@opentelemetry/semantic-conventions';

/** Any other is `_OTHER`, so that clients can't make up values without end (HTTP semantic conventions). */
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

/** What a span's name begins with. */
export function spanMethod(method: string): string {
  return KNOWN_METHODS.has(method) ? method : 'HTTP';
}

/** @param type one of few: a status, a problem's code */
export function fail(span: Span, type: string): void {
  span.setAttribute(ATTR_ERROR_TYPE, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
