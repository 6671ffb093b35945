import type { Behaviour } from './behaviour.ts';
import type { IssuedTokens } from './issued-tokens.ts';
import type { MockOptions } from './options.ts';

export interface MockStats {
  /** Calls except those to the session endpoint and `/__mock`. */
  requests: number;
  /** Of these, those answered with 401. */
  unauthorized: number;
  /** All calls to the session endpoint. */
  loginAttempts: number;
  /** Answers of the session endpoint with a token. */
  logins: number;
}

/** The state of a running mock. */
export interface MockState {
  readonly options: MockOptions;
  readonly tokens: IssuedTokens;
  readonly stats: MockStats;
  behaviour: Behaviour;
}
