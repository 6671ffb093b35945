/** The safe methods (RFC 9110 §9.2.1). TRACE is left out: it is never forwarded. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
