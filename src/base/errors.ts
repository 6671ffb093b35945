/** The errors that the program knows by name. Nothing is ever classified by a message. */

/** One thing that is wrong in the configuration. It never holds a secret's value. */
export interface ConfigFault {
  /** The variable (`BEARERD_LISTEN`) or the file key (`routes[2].prefix`). */
  readonly key: string;
  /** What is wrong, and what would be right. */
  readonly problem: string;
  /** What was most likely meant, where something known is near. */
  readonly suggestion?: string;
  /** Where in the file: `bearerd.yaml:12`. */
  readonly place?: string;
  /** It is about a secret or TLS file: what that is, or what stands in it. */
  readonly ofFile?: true;
}

/** A fault on one line, for a person. */
export function formatFault(fault: ConfigFault): string {
  return `${fault.key}: ${placedProblem(fault)}`;
}

/** What is wrong, with the place where it stands. */
export function placedProblem({ problem, place }: ConfigFault): string {
  return place === undefined ? problem : `${problem} (${place})`;
}

/** A fault as a program gets it: in `check --json`, and in the answer to `POST /reload`. */
export function faultAsJson(fault: ConfigFault): object {
  return { key: fault.key, message: placedProblem(fault), suggestion: fault.suggestion ?? null };
}

/** The configuration can't be used. Holds every fault, not the first one. */
export class ConfigError extends Error {
  readonly code = 'config-invalid';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(formatFault).join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The configuration file that was named can't be read (exit code 66). */
export class ConfigFileError extends Error {
  readonly code = 'config-file-unreadable';
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.name = 'ConfigFileError';
    this.path = path;
    this.reason = reason;
  }
}

/** The command line can't be understood (exit code 64). */
export class UsageError extends Error {
  readonly code = 'usage';
  override readonly name = 'UsageError';
}

/** A file can't be written, or exists already (exit code 73). */
export class NotWrittenError extends Error {
  readonly code = 'not-written';
  override readonly name = 'NotWrittenError';
}

/** Something was asked of what the program that it is a part of has closed. */
export class ClosedError extends Error {
  readonly code = 'closed';

  constructor() {
    super('bearerd was closed');
    this.name = 'ClosedError';
  }
}

/** An address can't be listened on (exit code 71). */
export class ListenError extends Error {
  readonly code = 'listen-failed';
  override readonly name = 'ListenError';
}

/**
 * Why a login failed:
 * - `unreachable`: no answer (DNS, connect, TLS, reset, timeout);
 * - `server-error`: an answer that says "not now" or is no login at all (5xx and what fits nowhere else);
 * - `rate-limited`: 429, or 503 with `Retry-After`;
 * - `unusable`: 200 without a usable token;
 * - `redirected`: 3xx, which is never followed;
 * - `refused`: 400, 401 or 403, the credentials themselves.
 */
export type LoginFailure =
  | 'unreachable'
  | 'server-error'
  | 'rate-limited'
  | 'unusable'
  | 'redirected'
  | 'refused';

/** A login that gave no token. `message` is for the operator: it holds no secret and no bytes of the answer. */
export class LoginError extends Error {
  readonly code: LoginFailure;
  readonly status: number | undefined;
  /** What to do about it, where that is known; `message` ends with it. */
  readonly remedy: string | undefined;
  /** What `Retry-After` asked for, in milliseconds, unclamped. */
  readonly retryAfterMs: number | undefined;
  /** No server was asked: another instance was, a moment ago, and all are held back. */
  readonly heldBack: boolean;

  constructor(
    code: LoginFailure,
    message: string,
    detail: {
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      remedy?: string | undefined;
      heldBack?: boolean | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'LoginError';
    this.code = code;
    this.remedy = detail.remedy;
    this.status = detail.status;
    this.retryAfterMs = detail.retryAfterMs;
    this.heldBack = detail.heldBack ?? false;
  }
}

/** There was no connection in the time that it may take. `step` is the one that did not end. */
export class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
  readonly step: 'dns' | 'connect' | 'tls';

  constructor(step: 'dns' | 'connect' | 'tls') {
    super('not connected in time');
    this.name = 'ConnectTimeoutError';
    this.step = step;
  }
}

/**
 * The outbound proxy can't be reached, or opens no tunnel. `message` is for the operator: it names the proxy, says
 * what it did, and holds no secret and none of the proxy's own words.
 */
export class OutboundProxyError extends Error {
  /** That of the cause where there is one, so that it is judged like the same failure without a proxy. */
  readonly code: string;
  /** What it answered to CONNECT. */
  readonly status: number | undefined;

  /** @param proxy its host and port */
  constructor(
    proxy: string,
    what: string,
    detail: { status?: number | undefined; code?: string | undefined; cause?: unknown } = {},
  ) {
    super(
      `the outbound proxy ${proxy} ${what}`,
      detail.cause === undefined ? undefined : { cause: detail.cause },
    );
    this.name = 'OutboundProxyError';
    this.code = detail.code ?? 'ERR_OUTBOUND_PROXY';
    this.status = detail.status;
  }
}

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** What the client is told: constant, so that it can't hold anything of the request or of a secret. */
  readonly detail: string;
  /** The `error` parameter of `Proxy-Status` (RFC 9209 §2.3). */
  readonly proxyStatus: string;
}

/** Every answer that bearerd gives of its own accord. */
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

/** A request that bearerd answers itself. `message` is what the client is told; `cause` never reaches it. */
export class Problem extends Error {
  readonly code: ProblemCode;
  /** Seconds for `Retry-After`. */
  readonly retryAfterS: number | undefined;
  /** For `Allow` with a 405. */
  readonly allow: string | undefined;
  /** For the log: what to do about it. Constant. */
  readonly remedy: string | undefined;
  /** A more exact RFC 9209 error type than the code's usual one. */
  readonly proxyStatus: string;

  constructor(
    code: ProblemCode,
    extra: {
      retryAfterS?: number | undefined;
      allow?: string | undefined;
      proxyStatus?: string | undefined;
      /** A more exact text than the code's usual one; constant as well. */
      detail?: string | undefined;
      remedy?: string | undefined;
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
    this.proxyStatus = extra.proxyStatus ?? PROBLEMS[code].proxyStatus;
  }
}
