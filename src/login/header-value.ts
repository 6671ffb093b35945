import { Secret } from '../base/secret.ts';

/**
 * What stands in a credential's header: `Bearer eyJ...`, or the bare value. A character for each byte, as all header
 * values are here; text is UTF-8 on the wire, so that a key leaves as the bytes that its file holds.
 */
export function headerValueOf(value: Secret, scheme: string): Secret {
  const bytes = value.asBytes();
  return scheme === '' ? bytes : Secret.joined([scheme, bytes], ' ');
}

/** `user:password` in base64, as `Basic` has it (RFC 7617 §2), in UTF-8. */
export function basicValueOf(username: Secret, password: Secret): Secret {
  return Secret.joined([username, password], ':').base64();
}
