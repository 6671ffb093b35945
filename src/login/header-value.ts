import { Secret } from '../base/secret.ts';

/**
 * The value of a credential's header: `Bearer eyJ...`, or the bare value. As in all header values here, one character
 * stands for one byte. A key is sent in UTF-8, with the bytes of its file.
 */
export function headerValueOf(value: Secret, scheme: string): Secret {
  const bytes = value.asBytes();
  return scheme === '' ? bytes : Secret.joined([scheme, bytes], ' ');
}

/** `user:password` in UTF-8 and base64, as in `Basic` (RFC 7617 §2). */
export function basicValueOf(username: Secret, password: Secret): Secret {
  return Secret.joined([username, password], ':').base64();
}
