import type { IssuedToken } from '../login/issued-token.ts';

/**
 * Gets a token for a source: a `Login`, or one shared with other instances. While the present token is usable for
 * `spareMs` more, it may also answer "not yet".
 */
export type SourceLogin = (signal: AbortSignal, spareMs: number) => Promise<IssuedToken | NotYet>;

/** No login yet: nothing was done, and nothing failed. Ask again after this time. */
export interface NotYet {
  readonly notYetMs: number;
}
