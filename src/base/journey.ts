import type { TimeLimit } from './time-limit.ts';

/**
 * The state of a credential's token. Log, metrics, status and probes use the same words.
 * - `starting`: no login has succeeded yet;
 * - `fresh`: a usable token;
 * - `renewing`: a usable token, and a login is under way;
 * - `degraded`: a usable token, and the last login failed;
 * - `expired`: no usable token, though there was one;
 * - `refused`: no usable token, and the session endpoint refuses the credentials.
 */
export type TokenState = 'starting' | 'fresh' | 'renewing' | 'degraded' | 'expired' | 'refused';

/** What `bearerd why` tells of a request. Moments are on the monotonic clock. */
export interface Journey {
  /** Why the route table refused the request; undefined if it did not. */
  why: string | undefined;
  /** The state of the token when the request asked for it; `ready` for a key. Undefined if it asked for none. */
  tokenState: TokenState | 'ready' | undefined;
  /** When the request's first token was issued; -1 if there was none. */
  tokenSinceMonoMs: number;
  /** The last wait for a token. Its `before` is the wait before it. */
  tokenWait: TokenWait | undefined;
  /** The last attempt. Its `before` is the attempt before it. */
  attempt: AttemptRecord | undefined;
  /** The detail of the problem, and what to do about it if known. */
  detail: string | undefined;
  remedy: string | undefined;
  /** The time limit that ended the request. */
  timeLimit: TimeLimit | undefined;
  /** The answer had begun when the problem occurred. */
  brokeOff: boolean;
}

/** One wait of a request for a login. */
export interface TokenWait {
  readonly before: TokenWait | undefined;
  readonly fromMonoMs: number;
  /** -1 during the wait. */
  untilMonoMs: number;
}

/**
 * How long each step of making a connection took, in milliseconds; -1 for a step that was skipped or failed. Belongs to
 * the request that is the first to use the connection.
 */
export class ConnectionTimes {
  dnsMs = -1;
  /** Why another address of the name gave no connection before: the system's code, or `silent`. */
  lostAddress: string | undefined = undefined;
  /** TCP; with an outbound proxy, everything up to its tunnel. */
  connectMs = -1;
  tlsMs = -1;
}

/** One attempt to send a request. A moment is -1 until it comes. */
export class AttemptRecord {
  readonly upstream: string;
  readonly before: AttemptRecord | undefined;
  readonly beganMonoMs: number;
  /** Set if a connection was made, or tried, for this attempt. */
  times: ConnectionTimes | undefined = undefined;
  readyMonoMs = -1;
  firstByteMonoMs = -1;
  lastByteMonoMs = -1;
  failedMonoMs = -1;
  /** The status of the answer. */
  status = 0;
  /** When to call again, as a 429 or 503 says: seconds, or a date. */
  retryAfter: string | undefined = undefined;
  /** Why the attempt failed, in words. */
  failure: string | undefined = undefined;

  constructor(upstream: string, beganMonoMs: number, before: AttemptRecord | undefined) {
    this.upstream = upstream;
    this.beganMonoMs = beganMonoMs;
    this.before = before;
  }
}
