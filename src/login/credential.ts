import type { TokenState } from '../base/journey.ts';
import type { Secret } from '../base/secret.ts';
import type { Elsewhere } from '../config/credential-config.ts';
import type { AccessToken } from './access-token.ts';

/** Where a token comes from. The promise of each verb is all that a caller has to know. */
export interface TokenSource {
  readonly name: string;
  /** The token to send now, or undefined when there is none that may be sent. Never waits, never logs in. */
  current(): AccessToken | undefined;
  /** How it stands, where `current` has just given this. */
  stateWith(token: AccessToken | undefined): TokenState;
  /**
   * A token that may be sent, as soon as there is one.
   * Rejects with a `Problem`: `token-unavailable` at the time limit, `login-refused` at once while the session
   * endpoint refuses the credentials, `overloaded` when too many wait already, `draining` when it is too late.
   */
  wait(signal?: AbortSignal): Promise<AccessToken>;
  /**
   * Says that the upstream answered 401 to this token. Gives what to try once more with: a newer token,
   * a promise of one (undefined when the renewal fails), or undefined when the 401 has to stand.
   */
  rejected(token: AccessToken): AccessToken | Promise<AccessToken | undefined> | undefined;
}

interface Placement {
  readonly name: string;
  /** Header name as sent, `Authorization` unless configured. */
  readonly header: string;
  /** Where it stands if in no header. */
  readonly elsewhere?: Elsewhere;
  /** The origins that this may be sent to. It exists together with them: there is no credential for everywhere. */
  readonly origins: ReadonlySet<string>;
}

/** A long-lived key, or a name and a password: what is sent is known at once and for good. */
export interface FixedCredential extends Placement {
  readonly kind: 'fixed';
  readonly headerValue: Secret;
  /** What of it must not come back in an answer where `scrub` is on. */
  readonly secrets: readonly Secret[];
}

/** A credential whose value is a token that has to be kept fresh. */
export interface TokenCredential extends Placement {
  readonly kind: 'token';
  readonly source: TokenSource;
}

/**
 * Two kinds: a fixed value (a key, a name and a password), and a token that a login brings. A new way to get one goes into `config/`, into a
 * file of its own here, and into `app/logins.ts`.
 */
export type Credential = FixedCredential | TokenCredential;
