import { failureOf, type RefusalWords } from './answer-failure.ts';
import { parseHttpDate } from './http-date.ts';
import { firstFilled, type IssuedToken, issueToken, unusable } from './issued-token.ts';
import { parseJsonObject } from './json-object.ts';
import type { LoginAnswer } from './login-answer.ts';
import { oauthErrorIn } from './oauth-error.ts';

/**
 * The token in the answer to a login. An OAuth `error` decides, whatever the status, even beside a token. Pure.
 *
 * @throws LoginError unless the status is 200 and the answer has a usable token
 */
export function tokenInAnswer(answer: LoginAnswer, whenRefused: RefusalWords): IssuedToken {
  const error = oauthErrorIn(answer.body);
  if (answer.status !== 200 || error !== undefined) throw failureOf(answer, error, whenRefused);
  const fields = parseJsonObject(answer.body);
  if (fields === undefined) throw unusable('the answer is not JSON, or no JSON object', 200);
  const token = firstFilled([fields.accessToken, fields.access_token]);
  if (token === undefined) throw unusable('the answer holds no accessToken or access_token', 200);
  const { receivedWallMs, elapsedMs } = answer;
  const timing = { receivedWallMs, elapsedMs, serverDateMs: parseHttpDate(answer.headers.date) };
  return issueToken(fields, token, timing, 200);
}
