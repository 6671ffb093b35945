import type { Secret } from '../../base/secret.ts';

/** Many APIs take a key as the user name, and nothing or one of these words as the password. */
const NO_PASSWORD = /^(?:|x|api_token|unused|null|none|api|any|password)$/i;
/** A long name with a digit, and without `@`, is probably no person's. */
const LIKE_A_KEY = /^(?=.*\d)[^@\s]{20,}$/;

export const mayBeNoPassword = (password: Secret): boolean => password.fits(NO_PASSWORD);
export const looksLikeKey = (username: Secret): boolean => username.fits(LIKE_A_KEY);

/** True if the user name of `Basic` is the key. One of the words may also be the password of a person. */
export function isKeyAsName(username: Secret, password: Secret): boolean {
  return password.fits(/^$/) || (mayBeNoPassword(password) && looksLikeKey(username));
}
