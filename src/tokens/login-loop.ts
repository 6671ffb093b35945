import type { Clock } from '../base/clock.ts';
import { LoginError } from '../base/login-error.ts';
import type { IssuedToken } from '../login/issued-token.ts';
import { LOGIN_FLOOR_MS, LONGEST_SLEEP_MS } from './schedule.ts';
import type { NotYet } from './source-login.ts';

/** The shortest pause after "not yet". */
const ASK_FLOOR_MS = 100;

interface LoginLoopOptions {
  readonly clock: Clock;
  /** Milliseconds until the next login is due; called again after each sleep. */
  readonly delayMs: () => number;
  readonly login: (signal: AbortSignal) => Promise<IssuedToken | NotYet>;
  /** Called with the outcome of each login that was not abandoned. */
  readonly ended: (outcome: IssuedToken | NotYet | LoginError) => void;
}

/** Sleeps until a login is due, logs in, and repeats until it is stopped: one login at a time, whatever asks for it. */
export class LoginLoop {
  readonly #clock: Clock;
  readonly #options: LoginLoopOptions;
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #wakesMonoMs = Number.NEGATIVE_INFINITY;
  #login: AbortController | undefined;
  #loginStartedMonoMs = Number.NEGATIVE_INFINITY;

  constructor(options: LoginLoopOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  get stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** A login runs, and is not abandoned. */
  get loggingIn(): boolean {
    return this.#login !== undefined && !this.#login.signal.aborted;
  }

  /** Milliseconds since the start of the present or last login. */
  get elapsedMs(): number {
    return this.#clock.monoMs() - this.#loginStartedMonoMs;
  }

  /** Milliseconds until another login may start; zero or less if it may. */
  get floorInMs(): number {
    return LOGIN_FLOOR_MS - this.elapsedMs;
  }

  /** Keeps the floor between logins of another loop, in whose place this one runs. */
  continueFrom(former: LoginLoop): void {
    this.#loginStartedMonoMs = former.#loginStartedMonoMs;
  }

  /** Runs until `stop`. Never rejects. */
  async run(): Promise<void> {
    while (!this.stopped) {
      const delayMs = this.#options.delayMs();
      if (delayMs > 0) await this.#sleep(Math.min(delayMs, LONGEST_SLEEP_MS));
      else await this.#logIn();
    }
  }

  /** Call it if a login may have become due sooner, or if the machine may have slept. */
  reconsider(): void {
    if (this.#clock.monoMs() + this.#options.delayMs() < this.#wakesMonoMs) this.#wake.abort();
  }

  /** Aborts a login under way. */
  abandonLogin(): void {
    this.#login?.abort();
  }

  /** Ends the loop; a login under way goes on. */
  stop(): void {
    this.#stop.abort();
    this.#wake.abort();
  }

  async #logIn(): Promise<void> {
    const login = new AbortController();
    this.#login = login;
    const before = this.#loginStartedMonoMs;
    this.#loginStartedMonoMs = this.#clock.monoMs();
    const outcome = await this.#outcomeOf(login.signal);
    // No server was asked, so the next login may start before the floor.
    if ('notYetMs' in outcome) {
      const nextMonoMs = this.#clock.monoMs() + ASK_FLOOR_MS;
      this.#loginStartedMonoMs = Math.max(before, nextMonoMs - LOGIN_FLOOR_MS);
    }
    this.#login = undefined; // Before `ended`, which may ask for the next login.
    if (!login.signal.aborted) this.#options.ended(outcome);
  }

  async #outcomeOf(signal: AbortSignal): Promise<IssuedToken | NotYet | LoginError> {
    try {
      return await this.#options.login(signal);
    } catch (error) {
      if (error instanceof LoginError) return error;
      return new LoginError('unreachable', 'the login failed', { cause: error });
    }
  }

  async #sleep(ms: number): Promise<void> {
    this.#wake = new AbortController();
    this.#wakesMonoMs = this.#clock.monoMs() + ms;
    await this.#clock.sleep(ms, this.#wake.signal);
    this.#wakesMonoMs = Number.NEGATIVE_INFINITY;
  }
}
