import { randomBytes, randomUUID } from 'node:crypto';

export interface IssuedToken {
  readonly token: string;
  readonly expiresMs: number;
}

export type TokenState = 'live' | 'expired' | 'revoked' | 'unknown';

/** Older tokens are dropped, so that a client in a login loop can't fill the memory. */
const REMEMBERED = 10_000;

/** The tokens that the mock has issued, and whether they are still valid. */
export class IssuedTokens {
  readonly #now: () => number;
  readonly #tokens = new Map<
    string,
    { readonly subject: string; readonly expiresMs: number; revoked: boolean }
  >();
  readonly #latest = new Map<string, IssuedToken>();

  constructor(now: () => number) {
    this.#now = now;
  }

  issue(subject: string, lifetimeMs: number): IssuedToken {
    const issuedMs = this.#now();
    const expiresMs = issuedMs + lifetimeMs;
    const issued = { token: jwt(subject, issuedMs, expiresMs), expiresMs };
    this.#tokens.set(issued.token, { subject, expiresMs, revoked: false });
    this.#latest.set(subject, issued);
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= REMEMBERED) break;
      this.#tokens.delete(oldest);
    }
    return issued;
  }

  /** The subject's last token until it expires, revoked or not. */
  latest(subject: string): IssuedToken | undefined {
    const latest = this.#latest.get(subject);
    return latest !== undefined && latest.expiresMs > this.#now() ? latest : undefined;
  }

  state(token: string): TokenState {
    const known = this.#tokens.get(token);
    if (known === undefined) return 'unknown';
    if (known.revoked) return 'revoked';
    return known.expiresMs > this.#now() ? 'live' : 'expired';
  }

  /** The account that a token was given to. */
  subject(token: string): string | undefined {
    return this.#tokens.get(token)?.subject;
  }

  revokeAll(): void {
    for (const known of this.#tokens.values()) known.revoked = true;
  }
}

/** Looks like a JWT, with times in whole seconds (RFC 7519 §2). The signature is random: it is never checked. */
function jwt(subject: string, issuedMs: number, expiresMs: number): string {
  const header = { alg: 'HS256', typ: 'JWT' };
  const [iat, exp] = [issuedMs, expiresMs].map((ms) => Math.floor(ms / 1000));
  const claims = { sub: subject, iat, exp, jti: randomUUID() };
  const parts = [Buffer.from(JSON.stringify(header)), Buffer.from(JSON.stringify(claims)), randomBytes(32)];
  return parts.map((part) => part.toString('base64url')).join('.');
}
