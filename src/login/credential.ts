import type { TokenState } from '../base/journey.ts';
import type { Secret } from '../base/secret.ts';
import type { Elsewhere } from '../config/sections/credentials/placement.ts';
import type { AccessToken } from './access-token.ts';

/** Gives requests the token of a credential. */
export interface TokenSource {
  readonly name: string;
  /** The token to send now, or undefined when there is none that may be sent. Never waits, never logs in. */
  current(): AccessToken | undefined;
  /** The token's state; `token` is what `current` has just given. */
  stateWith(token: AccessToken | undefined): TokenState;
  /**
   * A token that may be sent, as soon as there is one.
   * Rejects with a `Problem`: `token-unavailable` at the time limit, `login-refused` at once while the session
   * endpoint refuses the credentials, `overloaded` when too many wait already, `draining` after a stop.
   */
  wait(signal?: AbortSignal): Promise<AccessToken>;
  /**
   * Says that the upstream answered 401 to this token. Gives the token for one more try: a newer one,
   * a promise of one (undefined when the renewal fails), or undefined when the client gets the 401.
   */
  rejected(token: AccessToken): AccessToken | Promise<AccessToken | undefined> | undefined;
  /** Says that the upstream answered 401 to the token that `rejected` gave, too. It is reported, and goes on being used. */
  newTokenRejected(token: AccessToken): void;
}

interface Placement {
  readonly name: string;
  /** Header name as sent, `Authorization` unless configured. */
  readonly header: string;
  /** The place of the credential, if it is not a header. */
  readonly elsewhere?: Elsewhere;
  /** The origins that may get this credential. There is no credential without them. */
  readonly origins: ReadonlySet<string>;
}

/** A key, or a user name and a password: the header's value never changes. */
export interface FixedCredential extends Placement {
  readonly kind: 'fixed';
  readonly headerValue: Secret;
  /** What no answer may hold while `scrub` is on. */
  readonly secrets: readonly Secret[];
}

/** A credential whose value is a token that is renewed. */
export interface TokenCredential extends Placement {
  readonly kind: 'token';
  readonly source: TokenSource;
}

/**
 * Two kinds: a fixed value (a key, or a user name and a password), and a token from a login. docs/architecture.md says
 * how to add a kind of login.
 */
export type Credential = FixedCredential | TokenCredential;
