import type { IssuedToken } from './issued-token.ts';
import { parseJsonObject } from './json-object.ts';
import type { SessionAnswer } from './session-answer.ts';
import { readLogin } from './session-response.ts';

/**
 * Judges the answer of a token endpoint (RFC 6749 §5). Pure.
 *
 * @param scheme what the token is going to be sent with.
 * @throws LoginError for everything that is not a login.
 */
export function readTokenAnswer(answer: SessionAnswer, scheme: string): IssuedToken {
  const issued = readLogin(answer, 'oauth-refused');
  const type = parseJsonObject(answer.body)?.token_type;
  const fits = typeof type !== 'string' || type.toLowerCase() === 'bearer';
  if (fits || scheme.toLowerCase() !== 'bearer') return issued;
  const warning = `token_type is not Bearer, and the token is sent with ${scheme} all the same`;
  return { ...issued, warnings: [...issued.warnings, warning] };
}
