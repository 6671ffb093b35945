import { failureOf } from './answer-failure.ts';
import { parseHttpDate } from './http-date.ts';
import { firstFilled, type IssuedToken, issueToken, unusable } from './issued-token.ts';
import { parseJsonObject } from './json-object.ts';

export type { IssuedToken };

/** What came back from the session endpoint. */
export interface SessionAnswer {
  readonly status: number;
  /** First value of each header that matters here. */
  readonly headers: {
    readonly date?: string | undefined;
    readonly retryAfter?: string | undefined;
    readonly location?: string | undefined;
  };
  readonly body: Uint8Array;
  readonly receivedWallMs: number;
  readonly elapsedMs: number;
}

/**
 * Judges an answer. Pure.
 *
 * @throws LoginError for everything that is not a login: only status 200 is one, and only with a usable token.
 */
export function readSessionAnswer(answer: SessionAnswer): IssuedToken {
  if (answer.status !== 200) throw failureOf(answer);
  const fields = parseJsonObject(answer.body);
  if (fields === undefined) throw unusable('the answer is not JSON, or no JSON object', 200);
  const token = firstFilled([fields.accessToken, fields.access_token]);
  if (token === undefined) throw unusable('the answer holds no accessToken or access_token', 200);
  const { receivedWallMs, elapsedMs } = answer;
  const timing = { receivedWallMs, elapsedMs, serverDateMs: parseHttpDate(answer.headers.date) };
  return issueToken(fields, token, timing, 200);
}
