/** Where a redirect leads, as far as a message may say. */
export type RedirectTarget = 'this-server' | 'another-server' | 'clear-text' | 'nowhere';

/** The answer of a session or token endpoint, or of an issuer. */
export interface LoginAnswer {
  readonly status: number;
  /** The first value of each header that is read. */
  readonly headers: {
    readonly date?: string | undefined;
    readonly retryAfter?: string | undefined;
  };
  /** Where a `Location` leads, if there is one. */
  readonly redirect?: RedirectTarget | undefined;
  readonly body: Uint8Array;
  readonly receivedWallMs: number;
  readonly elapsedMs: number;
}
