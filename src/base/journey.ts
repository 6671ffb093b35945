/**
 * The state of a credential's token; the same word in the log, the metrics, the status and the probes.
 * - `starting`: no login has succeeded yet;
 * - `fresh`: a usable token; `renewing`: the same, and a login runs;
 * - `degraded`: a usable token, and the last login failed;
 * - `expired`: no usable token, though there was one;
 * - `refused`: no usable token, and the session endpoint refuses the credentials.
 */
export type TokenState = 'starting' | 'fresh' | 'renewing' | 'degraded' | 'expired' | 'refused';

/** What of a request's way is kept, to answer why it went as it did. Moments are on the monotonic clock. */
export interface Journey {
  /** Why the route table refused it; undefined where it didn't. */
  why: string | undefined;
  /** How its credential stood when it was asked for; `ready` for a key. Undefined where none was. */
  tokenState: TokenState | 'ready' | undefined;
  /** When the token that it began with was got; -1 where there was none. */
  tokenSinceMonoMs: number;
  /** The last wait for a token; `before` leads to earlier ones. */
  tokenWait: TokenWait | undefined;
  /** The last attempt; `before` leads to earlier ones. */
  attempt: AttemptRecord | undefined;
  /** What the client was told of a problem, and what can be done about it where that is known. */
  detail: string | undefined;
  remedy: string | undefined;
  /** The answer had begun when the problem came. */
  brokeOff: boolean;
}

/** One wait of a request for a login. */
export interface TokenWait {
  readonly before: TokenWait | undefined;
  readonly fromMonoMs: number;
  /** -1 while it lasts. */
  untilMonoMs: number;
}

/**
 * How long it took to make a connection, step by step, in milliseconds; -1 for a step that was not taken, or failed.
 * One for each connection, for the request that is the first to use it.
 */
export class ConnectionTimes {
  dnsMs = -1;
  /** TCP; with an outbound proxy up to its tunnel. */
  connectMs = -1;
  tlsMs = -1;
}

/** One sending of a request: moments, -1 for what has not come, and words only where it failed. */
export class AttemptRecord {
  readonly upstream: string;
  readonly before: AttemptRecord | undefined;
  readonly beganMonoMs: number;
  /** Set if a connection was made for it, or was tried. */
  times: ConnectionTimes | undefined = undefined;
  readyMonoMs = -1;
  firstByteMonoMs = -1;
  lastByteMonoMs = -1;
  failedMonoMs = -1;
  /** Of its answer. */
  status = 0;
  failure: string | undefined = undefined;

  constructor(upstream: string, beganMonoMs: number, before: AttemptRecord | undefined) {
    this.upstream = upstream;
    this.beganMonoMs = beganMonoMs;
    this.before = before;
  }
}
