/** The safe methods (RFC 9110 §9.2.1). TRACE is left out: it is never forwarded. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The `Allow` of answers that depend on no route: `OPTIONS *`, and TRACE and CONNECT, which are refused before the match. */
export const USUAL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
