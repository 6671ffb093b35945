/** What the far side is told, and what it tells. */
export interface Orders {
  /** What the session endpoint answers. */
  readonly session?: 'grant' | keyof typeof import('./session-answers.ts').ODD_ANSWERS;
  /** What the upstream answers. */
  readonly upstream?: 'serve' | 'unavailable';
  readonly revoke?: true;
}

/** What has arrived so far. */
export interface Arrivals {
  readonly requests: number;
  readonly logins: number;
  readonly verdicts: Readonly<Record<string, number>>;
  /** When a token came that had ended. */
  readonly expiredMs: readonly number[];
  /** Requests that are not idempotent, and that were acted on more than once. */
  readonly twice: readonly string[];
  /** Uploads that arrived whole and were not what was sent. */
  readonly changed: readonly string[];
  /** Requests at the session endpoint that are no login. */
  readonly strays: number;
}
