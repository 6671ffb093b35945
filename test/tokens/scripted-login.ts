import type { Test } from 'tap';
import type { Event } from '../../src/base/events.ts';
import { LoginError, type LoginFailure } from '../../src/base/login-error.ts';
import { Secret } from '../../src/base/secret.ts';
import type { AccessToken } from '../../src/login/access-token.ts';
import type { Login } from '../../src/login/http-login.ts';
import { RenewingSource, type RenewingSourceOptions } from '../../src/tokens/renewing-source.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** The outcome of one login. */
export interface LoginScript {
  /** Default: `tok-n`. */
  readonly token?: string;
  readonly lifetimeMs?: number;
  readonly fails?: LoginFailure;
  readonly retryAfterMs?: number;
  /** The duration of the login. */
  readonly takesMs?: number;
}

export const HOUR = 3_600_000;

/** A source with scripted logins and a fake clock. Its loop runs until the end of the test. */
export class Bench {
  readonly clock = new FakeClock();
  readonly events: Event[] = [];
  /** When each login began, on the monotonic clock. */
  readonly logins: number[] = [];
  /** The account of each login, for tests that change the credentials. */
  readonly by: string[] = [];
  /** The most logins that ran at the same time. */
  mostAtOnce = 0;
  /** Logins that were aborted. */
  abandoned = 0;
  script: (n: number) => LoginScript;
  readonly source: RenewingSource;
  readonly loop: Promise<void>;
  readonly #options: Partial<RenewingSourceOptions>;
  #running = 0;

  constructor(
    t: Test,
    script: (n: number) => LoginScript = () => ({}),
    options: Partial<RenewingSourceOptions> = {},
  ) {
    this.script = script;
    this.#options = options;
    this.source = new RenewingSource(this.options());
    this.loop = this.source.keepFresh();
    t.teardown(() => this.source.abort());
  }

  /** The options of this bench, with another account or with other changes. */
  options(changes: Partial<RenewingSourceOptions> = {}, account = 'old'): RenewingSourceOptions {
    return {
      name: 'token',
      login: this.#login(account),
      scheme: 'Bearer',
      renewAfterMs: 24 * HOUR,
      tokenWaitMs: 10_000,
      maxWaiting: 1000,
      clock: this.clock,
      observe: (event) => this.events.push(event),
      random: () => 0.5,
      ...this.#options,
      ...changes,
    };
  }

  /** A source that a reload puts in the place of this bench's. */
  replaced(t: Test, sameLogin: boolean): RenewingSource {
    const source = new RenewingSource(this.options({}, sameLogin ? 'old' : 'new'));
    t.teardown(() => source.abort());
    source.continueFrom(this.source, sameLogin);
    this.source.retire();
    void source.keepFresh();
    return source;
  }

  /** The value of the present token. */
  get token(): string | undefined {
    return this.source.current()?.value.expose();
  }

  /** The wait of a request. A rejection that the test does not read is no error. */
  wait(signal?: AbortSignal): Promise<AccessToken> {
    const waiting = this.source.wait(signal);
    waiting.catch(() => {});
    return waiting;
  }

  eventsOf<T extends Event['type']>(type: T): Extract<Event, { type: T }>[] {
    return this.events.filter((event): event is Extract<Event, { type: T }> => event.type === type);
  }

  /** The times between the starts of logins. */
  get gaps(): number[] {
    return this.logins.slice(1).map((at, i) => at - this.logins[i]!);
  }

  #login(account: string): Login {
    return async (signal) => {
      const n = this.logins.push(this.clock.monoMs());
      this.by.push(account);
      this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#running);
      const { token = `tok-${n}`, lifetimeMs = HOUR, fails, retryAfterMs, takesMs = 0 } = this.script(n);
      if (takesMs > 0) await this.clock.sleep(takesMs, signal);
      this.#running--;
      if (signal.aborted) {
        this.abandoned++;
        throw new LoginError('unreachable', 'aborted');
      }
      if (fails !== undefined) throw new LoginError(fails, `the login failed: ${fails}`, { retryAfterMs });
      return { token: new Secret(token), lifetimeMs, warnings: [] };
    };
  }
}

/** The value or error of a promise, or `pending`, after everything that needs no time has run. */
export async function stateOf(clock: FakeClock, promise: Promise<unknown>): Promise<unknown> {
  let state: unknown = 'pending';
  promise.then(
    (value) => {
      state = value;
    },
    (error: unknown) => {
      state = error;
    },
  );
  await clock.settle();
  return state;
}
