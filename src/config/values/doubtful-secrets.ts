/** At least two names with a slash between them: a base64 text that begins so is longer, or has no dots and hyphens. */
const PATH = /^(?:~|\.{0,2})(?:\/[\w.-]{1,40}){2,8}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4}){3,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** `id:key` in base64 is the form in which some APIs want it. */
const PLAIN_TEXT = /^[\x20-\x39\x3b-\x7e]{6,}\r?\n?$/;

/** Why a secret that can be used is probably not what was meant; holds nothing of the secret. */
export function doubtAbout(secret: string): string | undefined {
  if (PATH.test(secret) && secret.length < 120) {
    return 'looks like the path of a file; if it is one, write { file: PATH }, or use the variable that ends with _FILE';
  }
  if (BASE64.test(secret) && PLAIN_TEXT.test(Buffer.from(secret, 'base64').toString('latin1'))) {
    return 'looks like base64 of the secret; if it is, write the secret itself (kubectl shows secrets in base64)';
  }
  return undefined;
}
