import type { Secret } from '../base/secret.ts';

/** A credential as it is at this moment. */
export interface Present {
  /** What stands in its header, with the scheme; a character for each byte. */
  readonly headerValue: Secret;
  /** The token or key alone. */
  readonly value: Secret;
  /** How long it may still be sent; Infinity for a key. */
  readonly usableMs: number;
  /** From its login to its end; Infinity for a key. */
  readonly lifetimeMs: number;
}

/** The credential by its name, while it may be sent. */
export type PresentOf = (credential: string) => Present | undefined;

/** A place outside of this process that holds credentials. */
export interface Sink {
  /** How often to look whether the place still holds what was written. */
  readonly lookMs: number;
  /**
   * Makes the place hold the present credentials and no others of ours. Gives whether it wrote anything; rejects if
   * that failed.
   */
  settle(present: PresentOf): Promise<boolean>;
}
