import type { Event } from '../../src/base/events.ts';
import { LoginError, type LoginFailure } from '../../src/base/login-error.ts';
import { Problem } from '../../src/base/problem.ts';
import { Secret } from '../../src/base/secret.ts';
import type { AccessToken } from '../../src/login/access-token.ts';
import { RenewingSource, type RenewingSourceOptions } from '../../src/tokens/renewing-source.ts';
import { Oracle } from './oracle.ts';
import { SkippingClock } from './skipping-clock.ts';

export const S = 1000;
export const MINUTE = 60 * S;
export const HOUR = 60 * MINUTE;

/** The state of the session endpoint. */
type Mood = 'well' | 'slow' | 'down' | 'failing' | 'busy' | 'garbage' | 'refusing';

const FAILURES: Readonly<Record<Mood, LoginFailure | undefined>> = {
  well: undefined,
  slow: undefined,
  down: 'unreachable',
  failing: 'server-error',
  busy: 'rate-limited',
  garbage: 'unusable',
  refusing: 'refused',
};

/** Mulberry32: small, fast, and the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A session endpoint, an upstream and clients around one source. The world knows the true time. The source does not:
 * its wall clock is set forward and back, and its monotonic clock stops while the machine sleeps.
 */
export class World {
  readonly clock = new SkippingClock();
  readonly random: () => number;
  /** Broken rules, in words. */
  readonly faults: string[] = [];
  /** Times are on the monotonic clock. */
  readonly logins: { readonly atMs: number; readonly mood: Mood }[] = [];
  requests = 0;
  #mood: Mood = 'well';
  readonly #oracle = new Oracle();
  readonly #pace: 'of weeks' | 'of years';
  readonly #source: RenewingSource;
  readonly #loop: Promise<void>;
  readonly #lifetimeMs: number;
  /** Tokens by value. */
  #issued = new Map<string, { readonly endsMs: number; revoked: boolean }>();
  /** Fingerprints of tokens that the source has reported as rejected. */
  readonly #rejected = new Set<string>();
  #account = 0;
  #asleepMs = 0;
  #loggingIn = 0;
  #underWay = 0;

  /** @param pace `of years` has tokens of up to a day, so that a year takes half a second */
  constructor(seed: number, pace: 'of weeks' | 'of years' = 'of weeks') {
    this.random = randomFrom(seed);
    this.#pace = pace;
    // Lifetimes are 10 minutes to 2 hours; in one week of twenty 30 seconds to 3 minutes.
    this.#lifetimeMs =
      this.#pace === 'of years'
        ? this.between(HOUR, 24 * HOUR)
        : seed % 20 === 0
          ? this.between(30 * S, 3 * MINUTE)
          : this.between(10 * MINUTE, 2 * HOUR);
    this.#source = new RenewingSource(this.#options());
    this.#loop = this.#source.keepFresh();
  }

  /** The true time: it includes the machine's sleep, and ignores changes of its clock. */
  get nowMs(): number {
    return this.clock.monoMs() + this.#asleepMs;
  }

  get mood(): Mood {
    return this.#mood;
  }

  set mood(mood: Mood) {
    this.#mood = mood;
    this.#oracle.well(mood === 'well', this.clock.monoMs());
  }

  /** Moves the wall clock. */
  setClock(byMs: number): Promise<void> {
    this.#oracle.disturbed(this.clock.monoMs());
    return this.clock.stepWall(byMs);
  }

  pick<T>(...from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }

  between(least: number, most: number): number {
    return Math.round(least + (most - least) * this.random());
  }

  suspend(ms: number): Promise<void> {
    this.#asleepMs += ms;
    this.#oracle.disturbed(this.clock.monoMs());
    return this.clock.suspend(ms);
  }

  /** The server forgets its sessions, or the account is logged out. */
  revokeAll(): void {
    this.#oracle.disturbed(this.clock.monoMs());
    for (const token of this.#issued.values()) token.revoked = true;
  }

  /** Changes the account's secret. The old one is refused from now on. */
  rotate(): void {
    this.#account++;
    this.#oracle.disturbed(this.clock.monoMs());
    this.#source.reconfigure(this.#options(), true);
  }

  /** Time passes, and clients call now and then, sometimes many at once. */
  async traffic(ms: number, meanMs = this.#pace === 'of years' ? 2 * HOUR : 10 * MINUTE): Promise<void> {
    const end = this.clock.monoMs() + ms;
    for (;;) {
      const left = end - this.clock.monoMs();
      const pause = Math.ceil(-Math.log(1 - this.random()) * meanMs);
      await this.clock.advance(Math.min(left, pause));
      if (pause >= left) return;
      await this.clock.look();
      for (let n = this.pick(1, 1, 1, 1, 1, 1, 2, 10); n > 0; n--) void this.#request();
    }
  }

  /** Clients call; after this time the next request must get a valid token, if necessary by waiting for a login. */
  async expectRecovery(withinMs: number, from: string): Promise<void> {
    await this.clock.look();
    void this.#request();
    await this.traffic(withinMs, 4 * S);
    let isGood = false;
    await this.clock.look();
    void this.#request().then((taken) => {
      isGood = taken;
    });
    await this.clock.advance(2 * S);
    if (!isGood) this.faults.push(`at ${this.nowMs} no recovery from ${from}`);
  }

  async end(): Promise<void> {
    this.#source.stop();
    await this.clock.advance(MINUTE);
    await this.#loop;
    if (this.#underWay > 0) this.faults.push(`${this.#underWay} requests wait for ever`);
    if (this.clock.sleeping > 0) this.faults.push(`${this.clock.sleeping} timers are left`);
  }

  /** One request, with a second try after a 401. True if the final answer is no 401. */
  async #request(): Promise<boolean> {
    this.requests++;
    this.#underWay++;
    if (this.#oracle.overdue(this.clock.monoMs())) this.faults.push(`at ${this.nowMs} a renewal is overdue`);
    try {
      const token = this.#source.current() ?? (await this.#source.wait());
      if (this.#isTaken(token)) return true;
      const second = await this.#source.rejected(token);
      return second !== undefined && this.#isTaken(second);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const isTold = error.code === 'draining' || (error.retryAfterS ?? 0) >= 1;
      const needless = error.code === 'draining' ? undefined : this.#oracle.avoidable(this.clock.monoMs());
      if (needless !== undefined) this.faults.push(`at ${this.nowMs} refused (${error.code}): ${needless}`);
      if (!isTold) this.faults.push(`${error.code} without Retry-After`);
      return false;
    } finally {
      this.#underWay--;
    }
  }

  /** Whether the upstream accepts this token. */
  #isTaken(token: AccessToken): boolean {
    const value = token.value.expose();
    const { endsMs, revoked } = this.#issued.get(value)!;
    if (this.nowMs >= endsMs)
      this.faults.push(`at ${this.nowMs} ${value} was sent after its end at ${endsMs}`);
    if (this.#rejected.has(token.fingerprint))
      this.faults.push(`at ${this.nowMs} ${value} was sent after its rejection`);
    return !revoked;
  }

  #options(): RenewingSourceOptions {
    const account = this.#account;
    return {
      name: 'token',
      login: (signal) => this.#login(account, signal),
      scheme: 'Bearer',
      renewAfterMs: this.#pace === 'of years' ? 24 * HOUR : 15 * MINUTE,
      tokenWaitMs: 10 * S,
      maxWaiting: 1000,
      clock: this.clock,
      observe: (event) => {
        if (event.type === 'token-rejected') this.#rejected.add(event.fingerprint);
        this.#heard(event);
      },
      random: this.random,
    };
  }

  #heard(event: Event): void {
    const nowMs = this.clock.monoMs();
    this.#oracle.hear(event, nowMs);
    // In simulated weeks the loop makes all its checks; in years the checks that see nothing are skipped.
    if (this.#pace === 'of weeks') return;
    if (event.type === 'login-succeeded') this.clock.quietUntilMonoMs = nowMs + event.renewInMs;
    if (event.type === 'login-failed') this.clock.quietUntilMonoMs = nowMs + event.nextTryInMs;
  }

  async #login(account: number, signal: AbortSignal) {
    const { mood } = this;
    this.#oracle.loginBegins(this.clock.monoMs());
    this.logins.push({ atMs: this.clock.monoMs(), mood });
    if (++this.#loggingIn > 1) this.faults.push(`at ${this.nowMs} two logins ran at once`);
    const token = `tok-${this.logins.length}`;
    const endsMs = this.nowMs + this.#lifetimeMs;
    await this.clock.sleep(mood === 'slow' ? this.between(2 * S, 9 * S) : this.between(20, 300), signal);
    this.#loggingIn--;
    if (signal.aborted) throw new LoginError('unreachable', 'aborted');
    const failure = account === this.#account ? FAILURES[mood] : 'refused';
    if (failure !== undefined) {
      const retryAfterMs = mood === 'busy' ? this.between(1, 50) * S : undefined;
      throw new LoginError(failure, failure, { retryAfterMs });
    }
    const lifetimeMs = endsMs - this.nowMs;
    if (lifetimeMs <= 0) throw new LoginError('unusable', 'dead on arrival');
    this.#issued.set(token, { endsMs, revoked: false });
    return { token: new Secret(token), lifetimeMs, warnings: [] };
  }
}
