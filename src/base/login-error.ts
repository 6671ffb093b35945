/**
 * Why a login failed:
 * - `unreachable`: no answer (DNS, connect, TLS, reset, timeout);
 * - `server-error`: an answer that says "not now", or that is no login and fits nowhere else (mostly 5xx);
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

/** A login that gave no token. `message` is for the operator; it holds no secret and no bytes of the answer. */
export class LoginError extends Error {
  readonly code: LoginFailure;
  readonly status: number | undefined;
  /** What to do about it, if known. `message` ends with it, too. */
  readonly remedy: string | undefined;
  /** The value of `Retry-After` in milliseconds, without any limit. */
  readonly retryAfterMs: number | undefined;
  /** No server was asked: another instance's login failed a moment ago, and all instances wait. */
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
