import { Secret } from '../../base/secret.ts';
import type { SecretSetting } from '../declaration/setting.ts';
import { isOtherEncoding, NOT_UTF8 } from '../values/encoding.ts';
import { basicProblem, COOKIE_VALUE, headerValueProblem } from '../values/header-values.ts';
import { wholePlaceholder } from '../values/placeholders.ts';
import type { At } from './shape.ts';

/** Where it is sent: a header can't carry every text, a cookie or `Basic` even fewer; a body or a query carries all. */
export type SecretUse = SecretSetting['secret'] | 'cookie' | 'username' | 'password';

/** Makes a secret of a text, and warns if it is probably not what was meant. */
export function secretOf(text: string, at: At, use: SecretUse): Secret | undefined {
  at.reading.commands.knows(text);
  const problem = problemIn(text, use);
  if (problem !== undefined) return at.report(problem);
  const placeholder = wholePlaceholder(text);
  const doubt = placeholder ? `is ${placeholder.shown}, which nothing replaces here` : doubtAbout(text);
  if (doubt !== undefined) at.reading.warn(at.key, doubt);
  return new Secret(text);
}

function problemIn(text: string, use: SecretUse): string | undefined {
  if (text === '') return 'is empty';
  if (isOtherEncoding(text)) return `holds what was lost in decoding: it is ${NOT_UTF8}`;
  // A login can carry the mark: if the login is refused, its failure names the mark.
  if (use !== 'body' && text.startsWith('\ufeff'))
    return 'begins with a byte order mark (BOM); save it without';
  switch (use) {
    case 'header':
      return headerValueProblem(text);
    case 'cookie':
      return COOKIE_VALUE.test(text)
        ? undefined
        : 'cannot be sent in a cookie: it holds a character that none may hold';
    case 'username':
    case 'password':
      return basicProblem(use, text);
    case 'body':
      return undefined;
  }
}

/** At least two names with a slash between them: a base64 text that begins so is longer, or has no dots and hyphens. */
const PATH = /^(?:~|\.{0,2})(?:\/[\w.-]{1,40}){2,8}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4}){3,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** `id:key` in base64 is the form in which some APIs want it. */
const PLAIN_TEXT = /^[\x20-\x39\x3b-\x7e]{6,}\r?\n?$/;

/** What stands in documentation and examples in the place of a secret, and what `check` shows of one. */
const UNFILLED = /^(?:<[^<>]+>|\{[\w .-]+\}|your[ _-].*|x{4,}|\*{3,}|\.{3}|…|change[ _-]?me)$/i;

/** Docker and others hand on the quotes of a line `NAME="value"`. */
const QUOTED = /^(["']).+\1$/s;

/** The words hold nothing of the secret. */
function doubtAbout(secret: string): string | undefined {
  if (PATH.test(secret) && secret.length < 120) {
    return 'looks like the path of a file; if it is one, write { file: PATH }, or use the variable that ends with _FILE';
  }
  if (BASE64.test(secret) && PLAIN_TEXT.test(Buffer.from(secret, 'base64').toString('latin1'))) {
    return 'looks like base64 of the secret; if it is, write the secret itself (kubectl shows secrets in base64)';
  }
  if (/^bearer\s/i.test(secret)) {
    return 'begins with "Bearer ", the scheme of a header, which Authorization gets by itself; leave it out, or give it as scheme';
  }
  if (UNFILLED.test(secret)) return 'looks like a placeholder; write the secret itself';
  if (QUOTED.test(secret)) return 'stands in quotes, which are sent as a part of it; leave them out';
  return undefined;
}
