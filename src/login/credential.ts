import type { TokenState } from '../base/journey.ts';
import type { Secret } from '../base/secret.ts';
import type { QueryOrCookie } from '../config/sections/credentials/placement.ts';
import type { AccessToken } from './access-token.ts';

/** Gives requests the token of a credential. */
export interface TokenSource {
  readonly name: string;
  /** The token to send now; undefined if there is none that may be sent. Never waits, never logs in. */
  current(): AccessToken | undefined;
  /** The token's state; `token` is what `current` has just given. */
  stateWith(token: AccessToken | undefined): TokenState;
  /**
   * A token that may be sent, as soon as there is one.
   * Rejects with a `Problem`: `token-unavailable` at the time limit, or at once if a reload has ended the source,
   * `login-refused` at once while the session endpoint refuses the credentials, `overloaded` if too many requests wait,
   * `draining` after a stop.
   */
  wait(signal?: AbortSignal): Promise<AccessToken>;
  /**
   * Reports that the upstream answered 401 to this token. Gives the token for a second try: a newer one, a promise of
   * one (of undefined if the renewal fails or takes too long), or undefined if the client gets the 401.
   */
  rejected(token: AccessToken): AccessToken | Promise<AccessToken | undefined> | undefined;
  /** Says that the upstream answered 401 to the token that `rejected` gave, too. It is reported, and goes on being used. */
  newTokenRejected(token: AccessToken): void;
}

interface Placement {
  readonly name: string;
  /** Header name as sent, `Authorization` unless configured. */
  readonly header: string;
  /** The place of the credential if it is not a header. */
  readonly queryOrCookie?: QueryOrCookie;
  /** The origins that may get this credential. There is no credential without them. */
  readonly origins: ReadonlySet<string>;
}

/** A key, or a user name and a password: the header's value never changes. */
export interface FixedCredential extends Placement {
  readonly kind: 'fixed';
  readonly headerValue: Secret;
  /** The same without the scheme. */
  readonly value: Secret;
}

/** A token that is renewed. */
interface TokenCredential extends Placement {
  readonly kind: 'token';
  readonly source: TokenSource;
}

/**
 * A fixed value, or a token from a login. docs/architecture.md says how to add a kind of login.
 */
export type Credential = FixedCredential | TokenCredential;
