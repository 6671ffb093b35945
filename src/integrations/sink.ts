import type { Secret } from '../base/secret.ts';

/** A credential as it may be sent now. */
export interface PresentCredential {
  /** The header's value, with the scheme; one character for each byte. */
  readonly headerValue: Secret;
  /** The token or key alone. */
  readonly value: Secret;
  /** How long it may still be sent; Infinity for a key. */
  readonly usableMs: number;
  /** The token's whole life; Infinity for a key. */
  readonly lifetimeMs: number;
}

/** Gives a credential by its name; undefined while there is none that may be sent. */
export type PresentOf = (credential: string) => PresentCredential | undefined;

/** A place outside of this process that gets a copy of credentials. */
export interface Sink {
  /** How often to check that the place still holds what was written. */
  readonly checkMs: number;
  /**
   * Makes the place hold the present credentials, and no old ones of bearerd. Resolves to whether anything was written;
   * rejects if that failed.
   */
  update(present: PresentOf): Promise<boolean>;
}
