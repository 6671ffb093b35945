import type { IssuedToken } from '../login/issued-token.ts';

/**
 * The login of a source: a `Login`, or one shared with other instances. While the present token is usable for
 * `spareMs` more, the answer may also be "not yet".
 */
export type SourceLogin = (signal: AbortSignal, spareMs: number) => Promise<IssuedToken | NotYet>;

/** No login was made, and nothing failed. Ask again after this time. */
export interface NotYet {
  readonly notYetMs: number;
}
