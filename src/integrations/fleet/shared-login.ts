import type { Clock } from '../../base/clock.ts';
import type { Observe } from '../../base/events.ts';
import { LoginError } from '../../base/login-error.ts';
import type { Login } from '../../login/http-login.ts';
import type { IssuedToken } from '../../login/issued-token.ts';
import { LOGIN_FLOOR_MS } from '../../tokens/schedule.ts';
import type { NotYet } from '../../tokens/source-login.ts';
import { AccountEngine, type Findings } from './account-engine.ts';
import type { Engine } from './engine.ts';
import { type Hold, heldBack, holdAfter } from './hold.ts';
import type { AccountKeys } from './keys.ts';
import { Knowledge } from './knowledge.ts';
import { Lookout } from './lookout.ts';
import type { SharedToken } from './shared-token.ts';

/**
 * How long an instance waits for another's login before it logs in itself: longer than any login may take, and by
 * chance up to twice this. Chance spreads the instances: all began to wait at one moment, and the server may be
 * overloaded.
 */
const PATIENCE_MS = 12_000;
/** How long the instance that has logged in tries to publish the token, and holds the lock meanwhile. */
const PUBLISH_FOR_MS = 30_000;
/** How often an instance without a token looks for another's, if no message comes. */
const LOOK_AGAIN_MS = 500;
/** The most looks in one login that find something new, but no token to take. */
const MOST_LOOKS = 10;
/**
 * How long the engine must be quiet before a login that can wait. An engine that came back, or lost its data, first
 * gets the newest token from the instance that has it.
 */
const QUIET_MS = 3_000;
/** How soon an instance with a usable token asks again. */
const ASK_AGAIN_MS = 5_000;

/** Changes for the token's source. After each, the source asks for a login, which finds the change. */
export interface TokenNews {
  /** There is a better token than the present one. */
  fresher(): void;
  /** An upstream has refused the present token to another instance. */
  refused(): void;
}

interface SharedLoginOptions {
  readonly keys: AccountKeys;
  readonly engine: Engine;
  readonly login: Login;
  readonly news: TokenNews;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly random?: () => number;
}

/** A login for all instances of an account. For its caller it is a login like any other. */
export class SharedLogin {
  readonly #options: SharedLoginOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #engine: AccountEngine;
  readonly #known: Knowledge;
  readonly #lookout: Lookout;
  readonly #closed = new AbortController();
  readonly #background = new Set<Promise<unknown>>();
  #retiring: Promise<unknown> | undefined;

  constructor(options: SharedLoginOptions) {
    const { clock, random = Math.random, engine, keys, observe } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#engine = new AccountEngine(engine, keys, clock, observe);
    this.#known = new Knowledge(clock, random);
    const listen = (wake: () => void) => this.#engine.listen(wake);
    this.#lookout = new Lookout({ clock, random, listen, look: () => this.#lookAround() });
    this.#track(this.#lookout.run());
  }

  /** Waits for the work in the background, and ends it. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#lookout.close();
    await Promise.all(this.#background);
  }

  /** This instance's upstream has refused the present token. */
  rejected(): void {
    const refused = this.#known.refused();
    if (refused === undefined) return;
    this.#retiring = this.#engine.retire(refused).then((answer) => {
      if (answer === 'protected') this.#known.allowAgain(refused);
    });
    this.#track(this.#retiring);
  }

  /** See `SourceLogin`. */
  async logIn(signal: AbortSignal, spareMs: number): Promise<IssuedToken | NotYet> {
    await this.#retiring;
    const offered = this.#known.take(); // The lookout has seen it a moment ago, and has caused this call.
    if (offered !== undefined) return offered;
    const patienceEndsMonoMs = this.#clock.monoMs() + PATIENCE_MS * (1 + this.#random());
    for (let looks = 1; ; looks++) {
      const news = this.#lookout.nextWake;
      const findings = await this.#look(signal);
      const taken = this.#known.take();
      if (taken !== undefined) return taken;
      this.#obeyHold();
      const waitMs = this.#mayWaitMs(spareMs);
      if (waitMs > 0 && (await this.#anotherMayBeAhead(findings))) return this.#notYet(waitMs);
      const answer = findings && (await this.#engine.askForLock(findings));
      if (answer === 'mine') return this.#logInForAll(signal);
      if (answer === 'changed' && looks < MOST_LOOKS) continue;
      if (waitMs > 0) return this.#notYet(waitMs);
      if (answer === undefined || this.#clock.monoMs() > patienceEndsMonoMs) return this.#logInAlone(signal);
      await this.#clock.sleep(LOOK_AGAIN_MS, AbortSignal.any([signal, news, this.#closed.signal]));
      signal.throwIfAborted();
    }
  }

  /** "Not yet", unless there is a token to take by now. */
  #notYet(notYetMs: number): IssuedToken | NotYet {
    return this.#known.take() ?? { notYetMs };
  }

  /** How long the present token may be used before the next call; 0 if there is none. */
  #mayWaitMs(spareMs: number): number {
    const leftMs = Math.max(0, spareMs - this.#known.reserveMs);
    return Math.min(leftMs, ASK_AGAIN_MS * (0.5 + 0.5 * this.#random()));
  }

  /**
   * True if another instance may have a newer token that the engine does not know yet, because the engine came back a
   * moment ago or lost its data. In that case it publishes its own token: the other instance gets the message, and
   * publishes the newer.
   */
  async #anotherMayBeAhead(findings: Findings | undefined): Promise<boolean> {
    if (findings === undefined) return false;
    if (!this.#lookout.quietFor(QUIET_MS)) return true;
    const { mine } = this.#known;
    if (mine === undefined || !this.#known.exceeds(findings)) return false;
    return (await this.#engine.publish(mine, { isNew: false })) === 'done';
  }

  async #logInForAll(signal: AbortSignal): Promise<IssuedToken> {
    const done = new AbortController();
    const startedMonoMs = this.#clock.monoMs();
    this.#track(this.#engine.keepLock(done.signal));
    try {
      const issued = await this.#options.login(signal);
      // In the background: the caller does not wait for the engine.
      this.#track(this.#publishForAll(this.#add(issued), startedMonoMs).finally(() => done.abort()));
      return issued;
    } catch (error) {
      done.abort();
      const hold = signal.aborted ? undefined : this.#holdAfter(error);
      this.#track(this.#engine.unlock(this.#floorMs(startedMonoMs), hold));
      throw error;
    }
  }

  /** Holds the lock until the token is published: without the token, the others would log in again. */
  async #publishForAll(shared: SharedToken, startedMonoMs: number): Promise<void> {
    const endsMonoMs = this.#clock.monoMs() + PUBLISH_FOR_MS;
    const isUseful = () => this.#clock.monoMs() < endsMonoMs && this.#known.mine === shared;
    while (isUseful() && !this.#closed.signal.aborted) {
      const lockForMs = this.#floorMs(startedMonoMs);
      if ((await this.#engine.publish(shared, { isNew: true, lockForMs })) !== undefined) return;
      await this.#clock.sleep(LOOK_AGAIN_MS, this.#closed.signal);
    }
    await this.#engine.unlock(0, undefined);
  }

  /** How long until the fleet may log in again. */
  #floorMs(startedMonoMs: number): number {
    return Math.max(0, Math.ceil(startedMonoMs + LOGIN_FLOOR_MS - this.#clock.monoMs()));
  }

  /** Logs in without the lock, because the engine does not answer. Publishes the result, in case the engine is back. */
  async #logInAlone(signal: AbortSignal): Promise<IssuedToken> {
    try {
      const issued = await this.#options.login(signal);
      this.#track(this.#engine.publish(this.#add(issued), { isNew: true }));
      return issued;
    } catch (error) {
      const hold = signal.aborted ? undefined : this.#holdAfter(error);
      if (hold !== undefined) this.#track(this.#engine.unlock(0, hold));
      throw error;
    }
  }

  #add(issued: IssuedToken): SharedToken {
    return this.#known.add(issued, this.#engine.markOf(issued.token));
  }

  #holdAfter(error: unknown): Hold | undefined {
    if (!(error instanceof LoginError)) return undefined;
    this.#known.hold = holdAfter(error, this.#known.hold, this.#random(), this.#clock);
    return this.#known.hold;
  }

  /** @throws LoginError during a hold */
  #obeyHold(): void {
    const error = this.#known.hold && heldBack(this.#known.hold, this.#clock);
    if (error !== undefined) throw error;
  }

  /** Looks at the engine, and tells the source if the present token was refused. */
  async #look(signal: AbortSignal): Promise<Findings | undefined> {
    const findings = await this.#engine.look();
    signal.throwIfAborted(); // After a reload the source may have the token of another account.
    if (findings === undefined) return undefined;
    if (this.#known.learn(findings).refused) this.#options.news.refused();
    return findings;
  }

  /**
   * Looks at the engine, tells the source about changes, and publishes the present token to an engine that has lost it.
   */
  async #lookAround(): Promise<void> {
    const findings = await this.#engine.look();
    if (findings === undefined || this.#closed.signal.aborted) return;
    const { refused, fresher } = this.#known.learn(findings);
    if (refused) this.#options.news.refused();
    if (fresher) this.#options.news.fresher();
    const { mine } = this.#known;
    if (mine !== undefined && !fresher && this.#known.exceeds(findings))
      await this.#engine.publish(mine, { isNew: false });
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.catch((cause: unknown) =>
      this.#options.observe({ type: 'internal-error', where: 'sharing of a token', cause }),
    );
    this.#background.add(tracked);
    void tracked.finally(() => this.#background.delete(tracked));
  }
}
