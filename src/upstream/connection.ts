/** A connection is given up after this time, so that a changed DNS answer is followed (docs/forwarding.md). */
export const CONNECTION_MAX_AGE_MS = 60_000;
/** Shorter than common servers' own idle time, so that we rarely write into a connection that they are closing. */
export const KEEP_ALIVE_MS = 4_000;

/**
 * What is to be known of the connection that carries a request: whether it has carried one before, and how it ended.
 * Both decide what may be sent again, and whether a body that just stopped was whole.
 */
export interface UpstreamConnection {
  /** Requests that it has begun to carry. */
  requests: number;
  /** The peer ended or reset it. */
  peerGone: boolean;
  peerReset: boolean;
}

/** A dispatch handler that wants to know which connection carries it. */
export interface ConnectionAware {
  connection?: UpstreamConnection;
}
