/** A connection is retired after this time, so that a changed DNS answer is followed (docs/forwarding.md). */
export const CONNECTION_MAX_AGE_MS = 60_000;
/** Shorter than common servers' own idle time, so that we rarely write into a connection that they are closing. */
export const KEEP_ALIVE_MS = 4_000;
