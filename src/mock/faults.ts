import type { ServerResponse } from 'node:http';
import { ApiError, sendError, sendJson } from './http.ts';

/** The response to use, and the value of `Retry-After` (empty for none). */
interface FaultyAnswer {
  readonly response: ServerResponse;
  readonly retryAfter: string;
}

/** More than the 64 KiB that the answer to a login may have. */
const HUGE_BYTES = 256 * 1024;

/** Faults that do not depend on the request. The session endpoint and the data calls share them. */
const FAULTS = {
  /** The connection breaks without an answer. */
  down: ({ response }) => response.destroy(),
  /** No answer, ever. */
  hang: () => {},
  /** A valid beginning, then the connection breaks. */
  cut: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
    response.write('{"accessToken":"', () => response.destroy());
  },
  'not-http': ({ response }) => response.socket?.end('this is not HTTP\r\n\r\n'),
  /** A 200 with HTML labelled as JSON, as from a captive portal. */
  garbage: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('<html><body>Please sign in to the network.</body></html>\n');
  },
  huge: ({ response }) => sendJson(response, 200, { padding: 'x'.repeat(HUGE_BYTES) }),
  redirect: ({ response }) => {
    const host = response.req.headers.host;
    const location = host === undefined ? '/moved' : `http://${host}/moved`;
    sendJson(response, 307, { error: 'moved', message: 'this resource is elsewhere' }, { location });
  },
  'server-error': fails(500, 'server_error', 'the mock was told to fail'),
  unavailable: failsForAWhile(503, 'unavailable'),
  'rate-limit': failsForAWhile(429, 'rate_limited'),
  'refuse-400': fails(400, 'bad_request', 'the mock was told to refuse every login'),
  'refuse-401': fails(401, 'invalid_credentials', 'the mock was told to refuse every login'),
  'forbid-403': fails(403, 'forbidden', 'the mock was told to forbid every login'),
  unauthorized: fails(401, 'invalid_token', 'the mock was told to refuse every credential'),
  forbidden: fails(403, 'forbidden', 'the mock was told to forbid every call'),
} as const satisfies Record<string, (answer: FaultyAnswer) => unknown>;

export type Fault = keyof typeof FAULTS;

export function isFault(mode: string): mode is Fault {
  return Object.hasOwn(FAULTS, mode);
}

export function answerFault(fault: Fault, answer: FaultyAnswer): void {
  FAULTS[fault](answer);
}

/** A 401 needs a challenge (RFC 9110 §15.5.2). */
function fails(status: number, code: string, message: string) {
  const headers = status === 401 ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {};
  return ({ response }: FaultyAnswer) => sendError(response, new ApiError(status, code, message, headers));
}

function failsForAWhile(status: number, code: string) {
  return ({ response, retryAfter }: FaultyAnswer) => {
    const headers = retryAfter === '' ? {} : { 'retry-after': retryAfter };
    sendError(response, new ApiError(status, code, 'the mock was told to ask for patience', headers));
  };
}
