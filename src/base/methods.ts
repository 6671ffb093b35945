/** Methods that ask for no change (RFC 9110 §9.2.1), without TRACE, which is never forwarded. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
