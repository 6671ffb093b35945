import type { Lifetime } from '../support/lifetime.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';
import type { QuickClock } from './quick-clock.ts';

/** A session endpoint that remembers what it gave, and until when that is good. By true time: no clock of bearerd's. */
export class Issuer {
  lifetimeMs = 3_600_000;
  /** How long a token is still good when it has ended, as servers have it for clocks that differ. */
  leewayMs = 0;
  /** Bytes in place of a grant; undefined for no answer at all. */
  answer: ((login: number) => string | Buffer | undefined) | undefined;
  /** When each login came. */
  readonly loginsMs: number[] = [];
  readonly #issued = new Map<string, { readonly endsMs: number; revoked: boolean }>();
  readonly #clock: QuickClock;
  readonly #server: RawUpstream;

  private constructor(server: RawUpstream, clock: QuickClock) {
    this.#server = server;
    this.#clock = clock;
    server.onLogin = (login) => this.#logIn(login) as Buffer;
  }

  static async startedFor(t: Lifetime, clock: QuickClock): Promise<Issuer> {
    return new Issuer(await RawUpstream.startedFor(t), clock);
  }

  get port(): number {
    return this.#server.port;
  }

  get url(): string {
    return this.#server.url;
  }

  /** From now on tokens that are good for an hour, whatever is said of it. */
  grants(life: object): void {
    this.answer = (login) => session({ accessToken: this.#issue(login, 3_600_000), ...life });
  }

  /** Requests that are no login: there should be none. */
  get strays(): number {
    return this.#server.requests.length;
  }

  /** The server forgets its sessions. */
  revokeAll(): void {
    for (const token of this.#issued.values()) token.revoked = true;
  }

  /** What an upstream sees in the credential lines of a request. */
  judge(lines: readonly string[]): 'good' | 'revoked' | 'expired' | 'wrong' {
    const token = lines.length === 1 ? this.#issued.get(lines[0]!.replace(/^Bearer /, '')) : undefined;
    if (token === undefined) return 'wrong';
    if (this.#clock.trueMs() >= token.endsMs + this.leewayMs) return 'expired';
    return token.revoked ? 'revoked' : 'good';
  }

  #logIn(login: number): string | Buffer | undefined {
    this.loginsMs.push(this.#clock.trueMs());
    if (this.answer !== undefined) return this.answer(login);
    return session({ accessToken: this.#issue(login, this.lifetimeMs), expires_in: this.lifetimeMs / 1000 });
  }

  #issue(login: number, lifetimeMs: number): string {
    const token = `tok-${login}`;
    this.#issued.set(token, { endsMs: this.#clock.trueMs() + lifetimeMs, revoked: false });
    return token;
  }
}

/** A 200 of a session endpoint with whatever it says. */
export function session(body: unknown): Buffer {
  return ok(JSON.stringify(body), 'content-type: application/json');
}

/** An answer that is none of success. */
export function refusal(status: string, ...lines: string[]): string {
  return `${head(status, 'content-length: 2', ...lines)}no`;
}
