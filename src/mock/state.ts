import type { Behaviour } from './behaviour.ts';
import type { IssuedTokens } from './issued-tokens.ts';
import type { MockOptions } from './options.ts';

export interface MockStats {
  /** Calls to anything but the session endpoint and `/__mock`. */
  requests: number;
  /** Of those, the ones answered 401. */
  unauthorized: number;
  /** Calls to the session endpoint, whatever came of them. */
  loginAttempts: number;
  /** Answers of the session endpoint that hold a token. */
  logins: number;
}

/** All that a running mock knows. */
export interface MockState {
  readonly options: MockOptions;
  readonly tokens: IssuedTokens;
  readonly stats: MockStats;
  behaviour: Behaviour;
}
