/** A connection takes no new request after this time: a new one uses the present DNS answer (docs/forwarding.md). */
export const CONNECTION_MAX_AGE_MS = 60_000;
/** Shorter than the idle timeout of common servers, so that we rarely use a connection that the server is closing. */
export const UPSTREAM_IDLE_MS = 4_000;
