import type { TokenState } from '../base/journey.ts';
import { LoginError } from '../base/login-error.ts';
import { Problem } from '../base/problem.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { TokenSource } from '../login/credential.ts';
import { ForcedRenewals } from './forced-renewals.ts';
import { REPLACEMENT_WAIT_MS } from './schedule.ts';
import { type Outcome, TokenKeeper, type TokenKeeperOptions } from './token-keeper.ts';
import type { TokenStatus } from './token-status.ts';
import { Waiters } from './waiters.ts';

export interface RenewingSourceOptions extends TokenKeeperOptions {
  /** The longest wait of a request that finds no token. */
  readonly tokenWaitMs: number;
  /** How many requests may wait, of all credentials together. */
  readonly maxWaiting: number;
  /** How many do; without it, only those of this source count. */
  readonly waitingInAll?: () => number;
}

/** Why a source has ended, for those that wait for its next token. */
const STOPPED = { problem: () => new Problem('draining'), reason: 'bearerd is stopping' };
const GONE = {
  problem: () =>
    new Problem('token-unavailable', {
      retryAfterS: 1,
      detail: 'A reload has replaced or removed the credential of this request. Send the request again.',
      remedy: 'Send the request again: it then follows the new configuration.',
    }),
  reason: 'a reload has replaced or removed the credential',
};

/** The token of one credential for requests: they read it, wait for it, or report that the upstream rejected it. */
export class RenewingSource implements TokenSource {
  readonly name: string;
  #options: RenewingSourceOptions;
  readonly #keeper: TokenKeeper;
  readonly #forced: ForcedRenewals;
  /** Requests that have no token. */
  readonly #waiters: Waiters<AccessToken>;
  /** Requests whose token was rejected: each waits for another one. */
  readonly #replacements: Waiters<AccessToken>;
  /** The fingerprint of the last new token that the upstream rejected: each is reported once. */
  #reported: string | undefined;
  /** Callers that wait for the outcome of the next login. */
  #outcomes: ((outcome: Outcome) => void)[] = [];
  #end = STOPPED;

  constructor(options: RenewingSourceOptions) {
    this.name = options.name;
    this.#options = options;
    this.#keeper = new TokenKeeper(options, (outcome) => this.#loginEnded(outcome));
    this.#forced = new ForcedRenewals(options.clock);
    this.#waiters = new Waiters(options.clock);
    this.#replacements = new Waiters(options.clock);
  }

  current(): AccessToken | undefined {
    return this.#keeper.current();
  }

  stateWith(token: AccessToken | undefined): TokenState {
    return this.#keeper.stateWith(token);
  }

  wait(signal?: AbortSignal): Promise<AccessToken> {
    const token = this.current();
    if (token !== undefined) return Promise.resolve(token);
    if (this.#keeper.stopped) return Promise.reject(this.#end.problem());
    if (this.#keeper.refused) return Promise.reject(this.#problem('login-refused'));
    if (this.#crowded) return Promise.reject(this.#tooMany());
    this.#keeper.reconsider();
    return this.#waiters.wait(this.#options.tokenWaitMs, () => this.#problem('token-unavailable'), signal);
  }

  rejected(token: AccessToken): AccessToken | Promise<AccessToken | undefined> | undefined {
    const current = this.current();
    if (current !== undefined) {
      // A late 401 for an older token says nothing about the present one, unless both are the same.
      if (!current.value.equals(token.value)) return current;
      if (!this.#forced.allowed) return undefined;
      this.#forced.begin();
      this.#keeper.drop(current);
    }
    this.#keeper.reconsider();
    // Clients can't cut a backoff short.
    if (this.#keeper.stopped || this.#keeper.pausing || this.#crowded) return undefined;
    const limitMs = Math.max(REPLACEMENT_WAIT_MS, this.#options.tokenWaitMs);
    const late = () => this.#problem('token-unavailable');
    return this.#replacements.wait(limitMs, late).catch(() => undefined);
  }

  newTokenRejected(token: AccessToken): void {
    if (token.fingerprint === this.#reported) return;
    this.#reported = token.fingerprint;
    this.#keeper.newTokenRejected(token);
  }

  /** Logs in now even in a backoff, at most once a second. Gives the token, or the failure. */
  renewNow(): Promise<Outcome> {
    if (this.#keeper.stopped) return Promise.resolve(this.#noLogin());
    const outcome = this.#nextOutcome();
    this.#keeper.renew();
    return outcome;
  }

  /** Makes a login due even if the present token may still be sent. */
  makeRenewalDue(): void {
    this.#keeper.makeRenewalDue();
  }

  /**
   * Applies changed settings. If the credentials have changed, a login follows at once, and the present token is used
   * until then.
   */
  reconfigure(options: RenewingSourceOptions, credentialsChanged: boolean): void {
    this.#options = options;
    this.#keeper.reconfigure(options, credentialsChanged);
  }

  /** Whether the present token comes from a login before the last change of the credentials. */
  get outdated(): boolean {
    return this.#keeper.outdated;
  }

  /**
   * Continues the pause between logins of the source that this one replaces. With `sameLogin` it continues with the
   * token, too. Call it before `keepFresh`.
   */
  continueFrom(former: RenewingSource, sameLogin: boolean): void {
    this.#keeper.continueFrom(former.#keeper, sameLogin);
  }

  /** Requests that wait for a token. */
  get waiting(): number {
    return this.#waiters.size + this.#replacements.size;
  }

  status(): TokenStatus {
    return this.#keeper.status();
  }

  /** The background loop: runs until `stop`, and never rejects. */
  keepFresh(): Promise<void> {
    return this.#keeper.run();
  }

  /** Starts no more logins. One under way continues until `abort`: requests may wait for it. */
  stop(): void {
    this.#keeper.stop();
    if (!this.#keeper.loggingIn) this.#endWaiting();
  }

  /** Starts no more logins, and aborts one under way. */
  abort(): void {
    this.#keeper.abort();
    this.#endWaiting();
  }

  /**
   * Ends the source because a reload has removed its credential or given it another source. Requests that began before
   * may still send the present token; there is no other, and no more events.
   */
  retire(): void {
    this.#end = GONE;
    this.#keeper.retire();
    this.#endWaiting();
  }

  #loginEnded(outcome: Outcome): void {
    for (const settle of this.#outcomes.splice(0)) settle(outcome);
    if (!(outcome instanceof LoginError)) {
      this.#forced.end();
      this.#replacements.resolveAll(outcome);
      this.#waiters.resolveAll(outcome);
      return;
    }
    this.#replacements.rejectAll(() => outcome);
    if (this.#keeper.stopped) this.#endWaiting();
    else if (this.#keeper.refused) this.#waiters.rejectAll(() => this.#problem('login-refused'));
  }

  #endWaiting(): void {
    for (const settle of this.#outcomes.splice(0)) settle(this.#noLogin());
    this.#replacements.rejectAll(this.#end.problem);
    this.#waiters.rejectAll(this.#end.problem);
  }

  #noLogin(): LoginError {
    return new LoginError('unreachable', this.#end.reason);
  }

  get #crowded(): boolean {
    const { maxWaiting, waitingInAll } = this.#options;
    return (waitingInAll?.() ?? this.waiting) >= maxWaiting;
  }

  #nextOutcome(): Promise<Outcome> {
    return new Promise((resolve) => this.#outcomes.push(resolve));
  }

  #problem(code: 'token-unavailable' | 'login-refused'): Problem {
    const seconds = Math.max(1, Math.ceil(this.#keeper.nextLoginInMs / 1000));
    const limit = { setting: 'tokenWait', ms: this.#options.tokenWaitMs } as const;
    return new Problem(code, {
      retryAfterS: seconds,
      cause: this.#keeper.failure,
      ...(code === 'token-unavailable' && { limit }),
    });
  }

  #tooMany(): Problem {
    const remedy = `BEARERD_MAX_WAITING lets ${this.#options.maxWaiting} requests wait for a token, and so many did. See why there is none ("bearerd check --online" tries the login), or raise that limit.`;
    return new Problem('overloaded', { retryAfterS: 1, remedy });
  }
}
