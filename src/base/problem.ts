import type { TimeLimit } from './time-limit.ts';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** For the client. Constant, so that it can't hold a secret or anything of the request. */
  readonly detail: string;
  /** The `error` parameter of `Proxy-Status` (RFC 9209 §2.3). */
  readonly proxyStatus: string;
}

/** The prefix of a problem's `instance` (RFC 9457 §3.1.5); the request's ID follows. */
export const REQUEST_URN = 'urn:bearerd:request:';

/** Every problem that bearerd may answer with. */
export const PROBLEMS = {
  'bad-path': {
    status: 400,
    title: 'Ambiguous path',
    detail: 'The request path could be read as a different path by the upstream, so it was not forwarded.',
    proxyStatus: 'http_request_error',
  },
  'bad-request': {
    status: 400,
    title: 'Malformed request',
    detail: 'The request is not valid HTTP/1.1, so it was not forwarded.',
    proxyStatus: 'http_request_error',
  },
  'headers-too-large': {
    status: 431,
    title: 'Request headers too large',
    detail: 'The request headers are larger than BEARERD_MAX_HEADER_SIZE.',
    proxyStatus: 'http_request_error',
  },
  'request-timeout': {
    status: 408,
    title: 'Request timeout',
    detail: 'The request did not arrive in time.',
    proxyStatus: 'http_request_error',
  },
  'expectation-failed': {
    status: 417,
    title: 'Expectation failed',
    detail: 'Only "Expect: 100-continue" is supported.',
    proxyStatus: 'http_request_error',
  },
  'not-implemented': {
    status: 501,
    title: 'Transfer coding not implemented',
    detail: 'The only transfer coding that is supported is "chunked".',
    proxyStatus: 'http_request_error',
  },
  'client-authorization': {
    status: 400,
    title: 'Authorization not allowed',
    detail: 'This route accepts no Authorization header from the client: bearerd adds the credential.',
    proxyStatus: 'http_request_denied',
  },
  'host-refused': {
    status: 403,
    title: 'Host not allowed',
    detail: 'The Host header does not name this proxy. Other names are allowed by BEARERD_ALLOWED_HOSTS.',
    proxyStatus: 'http_request_denied',
  },
  'origin-refused': {
    status: 403,
    title: 'Origin not allowed',
    detail:
      'Web pages of this origin may not call this proxy. Origins are allowed by BEARERD_ALLOWED_ORIGINS.',
    proxyStatus: 'http_request_denied',
  },
  'caller-key-required': {
    status: 407,
    title: 'Caller key required',
    detail:
      'Send the caller key as "X-Bearerd-Key", "Proxy-Authorization: Bearer ..." or "Authorization: Bearer ...".',
    proxyStatus: 'http_request_denied',
  },
  'route-denied': {
    status: 403,
    title: 'Route denied',
    detail: 'The route configuration does not allow this path to be forwarded.',
    proxyStatus: 'http_request_denied',
  },
  'no-route': {
    status: 404,
    title: 'No route',
    detail: 'No configured route matches this path.',
    proxyStatus: 'http_request_denied',
  },
  'method-refused': {
    status: 405,
    title: 'Method not allowed',
    detail: 'This method is not allowed here.',
    proxyStatus: 'http_request_denied',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    detail: 'More requests came than a configured limit allows. Retry-After says when the next one passes.',
    proxyStatus: 'http_request_denied',
  },
  'token-unavailable': {
    status: 503,
    title: 'No access token',
    detail: 'No access token was available in time. bearerd keeps trying; its log and its /status say why.',
    proxyStatus: 'proxy_internal_error',
  },
  'login-refused': {
    status: 503,
    title: 'Login refused',
    detail:
      'The session endpoint refuses the configured credentials. The log of bearerd and its /status say why.',
    proxyStatus: 'proxy_configuration_error',
  },
  'upstream-unreachable': {
    status: 502,
    title: 'Upstream unreachable',
    detail: 'The upstream could not be reached, or it broke the connection before it answered.',
    proxyStatus: 'destination_unavailable',
  },
  'upstream-invalid': {
    status: 502,
    title: 'Invalid upstream response',
    detail: 'The upstream gave an answer that is not valid HTTP or whose headers are too large.',
    proxyStatus: 'http_protocol_error',
  },
  'upstream-timeout': {
    status: 504,
    title: 'Upstream timeout',
    detail: 'The upstream did not accept the connection or did not answer in time.',
    proxyStatus: 'http_response_timeout',
  },
  'loop-detected': {
    status: 508,
    title: 'Loop detected',
    detail: 'This request has already been through this proxy.',
    proxyStatus: 'proxy_loop_detected',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    detail: 'More requests wait or run than the configured limits allow.',
    proxyStatus: 'connection_limit_reached',
  },
  draining: {
    status: 503,
    title: 'Shutting down',
    detail: 'This proxy is stopping and takes no new requests.',
    proxyStatus: 'destination_unavailable',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** An answer of bearerd's own. The client gets `message`, never `cause`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  /** Seconds, for `Retry-After`. */
  readonly retryAfterS: number | undefined;
  /** For the `Allow` of a 405. */
  readonly allow: string | undefined;
  /** What to do about the problem, for the log. Constant. */
  readonly remedy: string | undefined;
  /** The time limit that has passed, if one has. */
  readonly limit: TimeLimit | undefined;
  /** An error type of RFC 9209; it may be more exact than the usual one of the code. */
  readonly proxyStatus: string;

  constructor(
    code: ProblemCode,
    extra: {
      retryAfterS?: number | undefined;
      allow?: string | undefined;
      proxyStatus?: string | undefined;
      /** A text that is more exact than the usual one of the code. Constant, too. */
      detail?: string | undefined;
      remedy?: string | undefined;
      limit?: TimeLimit | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(
      extra.detail ?? PROBLEMS[code].detail,
      extra.cause === undefined ? undefined : { cause: extra.cause },
    );
    this.name = 'Problem';
    this.code = code;
    this.retryAfterS = extra.retryAfterS;
    this.allow = extra.allow;
    this.remedy = extra.remedy;
    this.limit = extra.limit;
    this.proxyStatus = extra.proxyStatus ?? PROBLEMS[code].proxyStatus;
  }
}
