/** Messages to the far side and from it. */
export interface Orders {
  /** The answer of the session endpoint. */
  readonly session?: 'grant' | keyof typeof import('./session-answers.ts').ODD_ANSWERS;
  /** The answer of the upstream. */
  readonly upstream?: 'serve' | 'unavailable';
  readonly revoke?: true;
}

/** What has arrived at the far side. */
export interface Arrivals {
  readonly requests: number;
  readonly logins: number;
  readonly verdicts: Readonly<Record<string, number>>;
  /** The times at which an expired token came. */
  readonly expiredMs: readonly number[];
  /** Requests that are not idempotent and were acted on twice. */
  readonly twice: readonly string[];
  /** Uploads that arrived whole and changed. */
  readonly changed: readonly string[];
  /** Requests at the session endpoint that are no login. */
  readonly strays: number;
}
