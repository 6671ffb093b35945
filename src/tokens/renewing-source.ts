import type { Clock } from '../clock.ts';
import { type AccessToken, createAccessToken, isUsable, remainingMs } from '../credentials/access-token.ts';
import type { TokenSource } from '../credentials/credential.ts';
import type { Login } from '../credentials/session-endpoint.ts';
import { LoginError, Problem } from '../errors.ts';
import type { Observe } from '../events.ts';
import {
  FORCED_RENEWAL_FLOOR_MS,
  LOGIN_FLOOR_MS,
  LONGEST_SLEEP_MS,
  loginDelayMs,
  renewalDelayMs,
  retryDelayMs,
} from './schedule.ts';
import { Waiters } from './waiters.ts';

/**
 * - `starting`: no login has ended yet;
 * - `fresh`: a usable token; `renewing`: the same, and a login runs;
 * - `degraded`: a usable token, and the last login failed;
 * - `expired`: no usable token, and the last login failed, or one runs;
 * - `refused`: no usable token, and the session endpoint refuses the credentials.
 */
export type TokenState = 'starting' | 'fresh' | 'renewing' | 'degraded' | 'expired' | 'refused';

/** What a person wants to know of a credential; no part of it is secret. */
export interface TokenStatus {
  readonly state: TokenState;
  readonly usable: boolean;
  readonly expiresInMs: number | undefined;
  readonly expiresAtMs: number | undefined;
  readonly fingerprint: string | undefined;
  readonly lastLoginMs: number | undefined;
  readonly lastFailure: { readonly atMs: number; readonly code: string; readonly message: string } | undefined;
  readonly nextLoginInMs: number;
}

export interface RenewingSourceOptions {
  readonly name: string;
  readonly login: Login;
  /** Put before the token in the header: `Bearer`, or empty. */
  readonly scheme: string;
  readonly renewAfterMs: number;
  readonly tokenWaitMs: number;
  readonly maxWaiting: number;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly random?: () => number;
}

interface Failure {
  readonly error: LoginError;
  readonly atWallMs: number;
  readonly consecutive: number;
}

/** One credential's token: its loop logs in, everybody else reads, waits, or tells that it was rejected. */
export class RenewingSource implements TokenSource {
  readonly name: string;
  #options: RenewingSourceOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #waiters: Waiters<AccessToken>;
  #token: AccessToken | undefined;
  #renewAtWallMs = 0;
  #renewAtMonoMs = 0;
  #failure: Failure | undefined;
  #retryAtMonoMs = 0;
  #lastLoginMs: number | undefined;
  #lastStartMonoMs = Number.NEGATIVE_INFINITY;
  #lastForcedMonoMs = Number.NEGATIVE_INFINITY;
  /** The login to come, or under way, is there because the upstream rejected a token. */
  #forced = false;
  /** Until then a 401 doesn't mark the token dead: a forced renewal has just got it. */
  #protectedUntilMonoMs = 0;
  #running = false;
  /** A login is wanted whatever the token's age: new credentials, or somebody's request. */
  #wanted = false;
  #outcomes: ((result: AccessToken | LoginError) => void)[] = [];
  #wake = new AbortController();
  readonly #stop = new AbortController();
  readonly #abortLogin = new AbortController();

  constructor(options: RenewingSourceOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock;
    this.#random = options.random ?? Math.random;
    this.#waiters = new Waiters(options.clock);
  }

  current(): AccessToken | undefined {
    const token = this.#token;
    if (token === undefined || isUsable(token, this.#clock)) return token;
    this.#token = undefined;
    this.#options.observe({ type: 'token-expired', credential: this.name, fingerprint: token.fingerprint });
    return undefined;
  }

  wait(signal?: AbortSignal): Promise<AccessToken> {
    const token = this.current();
    if (token !== undefined) return Promise.resolve(token);
    if (this.#stop.signal.aborted) return Promise.reject(new Problem('draining'));
    if (this.#failure?.error.code === 'refused' && !this.#wanted) return Promise.reject(this.#problem('login-refused'));
    if (this.#waiters.size >= this.#options.maxWaiting) {
      return Promise.reject(new Problem('overloaded', { retryAfterS: 1 }));
    }
    this.#wakeIfDue(); // The loop may have slept through the token's end, together with the machine.
    return this.#waiters.wait(this.#options.tokenWaitMs, () => this.#problem('token-unavailable'), signal);
  }

  rejected(token: AccessToken): AccessToken | Promise<AccessToken | undefined> | undefined {
    const current = this.current();
    // A late 401 for an older token says nothing about the one at hand.
    if (current !== undefined && current !== token) return current;
    const now = this.#clock.monoMs();
    if (current !== undefined) {
      if (now < this.#protectedUntilMonoMs || now - this.#lastForcedMonoMs < FORCED_RENEWAL_FLOOR_MS) return undefined;
      this.#token = undefined;
      this.#forced = true;
      this.#lastForcedMonoMs = now;
      this.#options.observe({ type: 'token-rejected', credential: this.name, fingerprint: token.fingerprint });
    }
    // A backoff stands, whatever clients do.
    if (this.#stop.signal.aborted || (!this.#running && this.#retryAtMonoMs > now)) return undefined;
    const outcome = new Promise<AccessToken | undefined>((resolve) => {
      this.#outcomes.push((result) => resolve(result instanceof LoginError ? undefined : result));
    });
    this.#wakeIfDue();
    return outcome;
  }

  /** Logs in now, whatever the backoff (one a second still). Gives the token, or the reason why not. */
  renewNow(): Promise<AccessToken | LoginError> {
    const outcome = new Promise<AccessToken | LoginError>((resolve) => this.#outcomes.push(resolve));
    if (this.#stop.signal.aborted) this.#settle(new LoginError('unreachable', 'bearerd is stopping'));
    else if (!this.#running) this.#wantLogin();
    return outcome;
  }

  /** Takes changed settings; a new login follows at once where the credentials themselves have changed. */
  reconfigure(options: RenewingSourceOptions, credentialsChanged: boolean): void {
    this.#options = options;
    if (!credentialsChanged) return;
    // What the old credentials met says nothing about the new ones.
    this.#failure = undefined;
    this.#wantLogin();
  }

  status(): TokenStatus {
    const token = this.current();
    const failure = this.#failure;
    return {
      state: this.#state(token),
      usable: token !== undefined,
      expiresInMs: token === undefined ? undefined : remainingMs(token, this.#clock),
      expiresAtMs: token?.expiresWallMs,
      fingerprint: token?.fingerprint,
      lastLoginMs: this.#lastLoginMs,
      lastFailure: failure && {
        atMs: failure.atWallMs,
        code: failure.error.code,
        message: failure.error.message,
      },
      nextLoginInMs: this.#delayMs(),
    };
  }

  /** The background loop: runs until `stop`, and never rejects. */
  async keepFresh(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.current(); // Notices the end of a token that nobody asks for.
      const delay = this.#delayMs();
      if (delay > 0) await this.#sleep(Math.min(delay, LONGEST_SLEEP_MS));
      else await this.#login();
    }
  }

  /** Ends the loop. A login under way goes on until `abort`: a request may be waiting for it. */
  stop(): void {
    this.#stop.abort();
    this.#wake.abort();
    if (!this.#running) this.#endWaiting();
  }

  /** Ends the loop and breaks off a login under way. */
  abort(): void {
    this.stop();
    this.#abortLogin.abort();
  }

  #endWaiting(): void {
    this.#settle(new LoginError('unreachable', 'bearerd is stopping'));
    this.#waiters.rejectAll(() => new Problem('draining'));
  }

  #delayMs(): number {
    const mono = this.#clock.monoMs();
    return loginDelayMs({
      usable: !this.#wanted && this.#token !== undefined && isUsable(this.#token, this.#clock),
      renewInMs: Math.min(this.#renewAtWallMs - this.#clock.wallMs(), this.#renewAtMonoMs - mono),
      retryInMs: this.#failure === undefined ? 0 : this.#retryAtMonoMs - mono,
      floorInMs: this.#lastStartMonoMs + LOGIN_FLOOR_MS - mono,
    });
  }

  async #login(): Promise<void> {
    this.#wanted = false;
    this.#running = true;
    this.#lastStartMonoMs = this.#clock.monoMs();
    const { login, scheme } = this.#options;
    try {
      const issued = await login(this.#abortLogin.signal);
      this.#running = false;
      this.#succeed(createAccessToken(issued.token, scheme, issued.lifetimeMs, this.#clock), issued.warnings);
    } catch (error) {
      this.#running = false;
      this.#fail(error instanceof LoginError ? error : new LoginError('unreachable', 'the login failed', { cause: error }));
    }
    this.#forced = false;
  }

  #succeed(token: AccessToken, warnings: readonly string[]): void {
    const now = this.#clock.monoMs();
    const renewInMs = renewalDelayMs(token.lifetimeMs, this.#options.renewAfterMs, this.#random());
    this.#renewAtWallMs = this.#clock.wallMs() + renewInMs;
    this.#renewAtMonoMs = now + renewInMs;
    this.#token = token;
    this.#failure = undefined;
    this.#retryAtMonoMs = 0;
    this.#lastLoginMs = this.#clock.wallMs();
    if (this.#forced) this.#protectedUntilMonoMs = now + FORCED_RENEWAL_FLOOR_MS;
    this.#options.observe({
      type: 'login-succeeded',
      credential: this.name,
      durationMs: now - this.#lastStartMonoMs,
      fingerprint: token.fingerprint,
      lifetimeMs: token.lifetimeMs,
      renewInMs,
      warnings,
    });
    this.#settle(token);
    this.#waiters.resolveAll(token);
  }

  #fail(error: LoginError): void {
    const now = this.#clock.monoMs();
    const before = this.#failure;
    const goesOn = before !== undefined && (before.error.code === 'refused') === (error.code === 'refused');
    const consecutive = goesOn ? before.consecutive + 1 : 1;
    // New credentials have come while the old ones were being refused: they need not wait.
    const nextTryInMs = this.#wanted
      ? LOGIN_FLOOR_MS
      : retryDelayMs(error.code, consecutive, error.retryAfterMs, this.#random());
    this.#failure = { error, atWallMs: this.#clock.wallMs(), consecutive };
    this.#retryAtMonoMs = now + nextTryInMs;
    this.#options.observe({
      type: 'login-failed',
      credential: this.name,
      durationMs: now - this.#lastStartMonoMs,
      error,
      nextTryInMs,
      usable: this.current() !== undefined,
    });
    if (this.#stop.signal.aborted) return this.#endWaiting();
    this.#settle(error);
    if (error.code === 'refused' && !this.#wanted) this.#waiters.rejectAll(() => this.#problem('login-refused'));
  }

  #settle(result: AccessToken | LoginError): void {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    for (const settle of outcomes) settle(result);
  }

  #wantLogin(): void {
    this.#wanted = true;
    this.#retryAtMonoMs = 0;
    this.#wakeIfDue();
  }

  #wakeIfDue(): void {
    if (this.#delayMs() <= 0) this.#wake.abort();
  }

  async #sleep(ms: number): Promise<void> {
    this.#wake = new AbortController();
    if (this.#stop.signal.aborted) return;
    await this.#clock.sleep(ms, this.#wake.signal);
  }

  #problem(code: 'token-unavailable' | 'login-refused'): Problem {
    const seconds = Math.max(1, Math.ceil(this.#delayMs() / 1000));
    return new Problem(code, { retryAfterS: seconds, cause: this.#failure?.error });
  }

  #state(token: AccessToken | undefined): TokenState {
    const failed = this.#failure !== undefined;
    if (token !== undefined) return failed ? 'degraded' : this.#running ? 'renewing' : 'fresh';
    if (this.#failure?.error.code === 'refused') return 'refused';
    return this.#lastLoginMs === undefined && !failed ? 'starting' : 'expired';
  }
}
