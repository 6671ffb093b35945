import type { Clock } from '../base/clock.ts';
import { untilMs } from '../base/deadline.ts';
import type { Event, Observe } from '../base/events.ts';
import type { TokenState } from '../base/journey.ts';
import { LoginError } from '../base/login-error.ts';
import { type AccessToken, createAccessToken } from '../login/access-token.ts';
import type { IssuedToken } from '../login/issued-token.ts';
import { Backoff } from './backoff.ts';
import { HeldToken } from './held-token.ts';
import { LoginLoop } from './login-loop.ts';
import { loginDelayMs, renewalDelayMs } from './schedule.ts';
import type { NotYet, SourceLogin } from './source-login.ts';
import { type Circumstances, stateOf, type TokenStatus, tokenStatus } from './token-status.ts';

export interface TokenKeeperOptions {
  readonly name: string;
  readonly login: SourceLogin;
  /** Put before the token in the header: `Bearer`, or empty. */
  readonly scheme: string;
  readonly renewAfterMs: number;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly random?: () => number;
}

/** How a login ended. */
export type Outcome = AccessToken | LoginError;

/** The token of one credential, and the logins that renew it. It knows nothing of requests. */
export class TokenKeeper {
  readonly #loop: LoginLoop;
  readonly #backoff: Backoff;
  #options: TokenKeeperOptions;
  readonly #random: () => number;
  readonly #ended: (outcome: Outcome) => void;
  readonly #held: HeldToken;
  #lastLoginMs: number | undefined;
  /** A login is due at any age of the token, until one succeeds: the credentials changed, or a caller asked for it. */
  #wanted = false;
  /** The credentials have changed, and no login has succeeded since. */
  #changed = false;

  /** @param ended called with each login's outcome, after the keeper has acted on it. */
  constructor(options: TokenKeeperOptions, ended: (outcome: Outcome) => void) {
    const { clock, random = Math.random } = options;
    this.#options = options;
    this.#random = random;
    this.#ended = ended;
    this.#held = new HeldToken(clock, (token) => this.#lost('token-expired', token));
    this.#backoff = new Backoff(clock, random);
    this.#loop = new LoginLoop({
      clock,
      delayMs: () => this.nextLoginInMs,
      login: (signal) => this.#options.login(signal, this.#spareMs),
      ended: (outcome) => this.#loginEnded(outcome),
    });
  }

  /** The token while it may be sent. */
  current(): AccessToken | undefined {
    return this.#held.current;
  }

  /** Drops the present token, which the upstream has rejected. */
  drop(token: AccessToken): void {
    this.#held.drop();
    this.#lost('token-rejected', token);
  }

  /** Reports that the upstream rejected a token that had just come from a login. */
  newTokenRejected({ fingerprint }: AccessToken): void {
    const credential = this.#options.name;
    this.#tell({ type: 'new-token-rejected', credential, state: this.#state, fingerprint });
  }

  /** No more logins begin. */
  get stopped(): boolean {
    return this.#loop.stopped;
  }

  get loggingIn(): boolean {
    return this.#loop.loggingIn;
  }

  /** The last login was refused, and none has succeeded since. */
  get refused(): boolean {
    return this.#backoff.refused;
  }

  /** No login runs, and none begins before the end of a backoff. */
  get pausing(): boolean {
    return this.#backoff.remainingMs > 0 && !this.loggingIn;
  }

  /** Why the last login failed; undefined if it succeeded. */
  get failure(): LoginError | undefined {
    return this.#backoff.failure?.error;
  }

  /** Runs until the loop is stopped. Never rejects. */
  run(): Promise<void> {
    return this.#loop.run();
  }

  /** Call it if there is no token: the machine may have slept past the token's end. */
  reconsider(): void {
    this.#loop.reconsider();
  }

  /** Starts no more logins; one under way continues. */
  stop(): void {
    this.#loop.stop();
  }

  /** Starts no more logins, and aborts one under way. */
  abort(): void {
    this.#loop.stop();
    this.#loop.abandonLogin();
  }

  /** Aborts, and emits no more events: they would be about another source's token. */
  retire(): void {
    this.#options = { ...this.#options, observe: () => {} };
    this.abort();
  }

  /** Whether the present token comes from a login before the last change of the credentials. */
  get outdated(): boolean {
    return this.#changed && this.current() !== undefined;
  }

  /** See `RenewingSource.continueFrom`. */
  continueFrom(former: TokenKeeper, sameLogin: boolean): void {
    this.#loop.continueFrom(former.#loop);
    const token = sameLogin ? former.current() : undefined;
    if (token === undefined) return;
    this.#held.hold(token, former.#held.renewInMs);
    this.#lastLoginMs = former.#lastLoginMs;
  }

  get nextLoginInMs(): number {
    return loginDelayMs({
      usable: this.current() !== undefined && !this.#wanted,
      renewInMs: this.#held.renewInMs,
      retryInMs: this.#backoff.remainingMs,
      floorInMs: this.#loop.floorInMs,
    });
  }

  /** Makes a login due at any age of the token, even in a backoff. A login that already runs counts. */
  renew(): void {
    this.#wanted = true; // Set even while a login runs: it may answer "not yet".
    if (this.#loop.loggingIn) return;
    this.#backoff.cutShort();
    this.#loop.reconsider();
  }

  /** Makes the renewal due, even in a backoff. */
  makeRenewalDue(): void {
    this.#held.renewIn(0);
    this.#backoff.cutShort();
    this.#loop.reconsider();
  }

  reconfigure(options: TokenKeeperOptions, credentialsChanged: boolean): void {
    this.#options = options;
    if (!credentialsChanged) return;
    this.#changed = true;
    // Failures and logins of the old credentials say nothing about the new ones.
    this.#backoff.clear();
    this.#loop.abandonLogin();
    this.renew();
  }

  status(): TokenStatus {
    const { nextLoginInMs } = this;
    const situation = { ...this.#circumstances, token: this.current(), nextLoginInMs };
    return tokenStatus(situation, this.#options.clock);
  }

  /** @param token what `current` has just given */
  stateWith(token: AccessToken | undefined): TokenState {
    return stateOf(token, this.#circumstances);
  }

  get #state(): TokenState {
    return this.stateWith(this.current());
  }

  get #circumstances(): Circumstances {
    const { failure } = this.#backoff;
    return { failure, lastLoginMs: this.#lastLoginMs, loggingIn: this.#loop.loggingIn };
  }

  /** How long the present token may still be sent; 0 if there is none, or if a login is due at any age. */
  get #spareMs(): number {
    const token = this.current();
    return token === undefined || this.#wanted ? 0 : untilMs(token.usableUntil, this.#options.clock);
  }

  #loginEnded(outcome: IssuedToken | NotYet | LoginError): void {
    if (outcome instanceof LoginError) this.#failed(outcome);
    else if ('token' in outcome) this.#succeeded(outcome);
    else this.#held.renewIn(outcome.notYetMs);
  }

  #succeeded({ token: value, lifetimeMs, warnings, ageMs }: IssuedToken): void {
    const { name, scheme, renewAfterMs, clock } = this.#options;
    this.#wanted = false;
    this.#changed = false;
    const token = createAccessToken(value, scheme, lifetimeMs, clock);
    const renewInMs = renewalDelayMs(lifetimeMs, renewAfterMs, this.#random(), ageMs);
    this.#held.hold(token, renewInMs);
    this.#lastLoginMs = clock.wallMs();
    this.#backoff.clear();
    this.#tell({
      type: 'login-succeeded',
      credential: name,
      state: this.#state,
      durationMs: this.#loop.elapsedMs,
      fingerprint: token.fingerprint,
      lifetimeMs,
      renewInMs,
      warnings,
      ...(ageMs !== undefined && { taken: true }),
    });
    this.#ended(token);
  }

  #failed(error: LoginError): void {
    const nextTryInMs = this.#backoff.begin(error);
    this.#tell({
      type: 'login-failed',
      credential: this.#options.name,
      state: this.#state,
      durationMs: this.#loop.elapsedMs,
      error,
      nextTryInMs,
      usable: this.current() !== undefined,
    });
    this.#ended(error);
  }

  #lost(type: 'token-expired' | 'token-rejected', { fingerprint }: AccessToken): void {
    const nextTryInMs = this.loggingIn ? 0 : Math.max(0, this.nextLoginInMs);
    this.#tell({ type, credential: this.#options.name, state: this.#state, fingerprint, nextTryInMs });
  }

  /** A failing observer must not stop the loop. */
  #tell(event: Event): void {
    try {
      this.#options.observe(event);
    } catch {
      // An event about the failure would fail in the same way.
    }
  }
}
