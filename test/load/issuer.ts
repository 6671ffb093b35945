import { setTimeout as sleep } from 'node:timers/promises';

type Verdict = 'good' | 'expired' | 'revoked' | 'wrong';

/** Issues tokens and records them; checks the tokens of requests by its own clock. */
export class Issuer {
  lifetimeMs = 3_000;
  /** The duration of a login. */
  takesMs = 0;
  logins = 0;
  readonly seen: Record<Verdict, number> = { good: 0, expired: 0, revoked: 0, wrong: 0 };
  /** Tokens that came with a request while they were valid. */
  readonly used = new Set<string>();
  readonly #endsMs = new Map<string, number>();
  #revokedTo = 0;

  /** The answer of the session endpoint. */
  async logIn(): Promise<string> {
    const login = ++this.logins;
    const token = `token-${login}`;
    await sleep(this.takesMs);
    this.#endsMs.set(token, performance.now() + this.lifetimeMs);
    return JSON.stringify({ accessToken: token, expires_in: this.lifetimeMs / 1_000 });
  }

  /** Makes every token issued so far invalid. */
  revoke(): void {
    this.#revokedTo = this.logins;
  }

  judge(authorization: string | undefined): Verdict {
    const token = authorization?.replace(/^Bearer /, '') ?? '';
    const verdict = this.#verdict(token);
    this.seen[verdict]++;
    if (verdict === 'good') this.used.add(token);
    return verdict;
  }

  #verdict(token: string): Verdict {
    const endsMs = this.#endsMs.get(token);
    if (endsMs === undefined) return 'wrong';
    if (Number(token.slice('token-'.length)) <= this.#revokedTo) return 'revoked';
    return performance.now() < endsMs ? 'good' : 'expired';
  }
}
