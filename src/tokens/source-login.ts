import type { IssuedToken } from '../login/issued-token.ts';

/**
 * What a source asks for a token: a `Login`, or what stands before one. Where the token at hand will do for `spareMs`
 * more, it may also say that it is too soon.
 */
export type SourceLogin = (signal: AbortSignal, spareMs: number) => Promise<IssuedToken | NotYet>;

/** No login yet: nothing was done, and nothing has failed. To be asked again after so long. */
export interface NotYet {
  readonly notYetMs: number;
}
