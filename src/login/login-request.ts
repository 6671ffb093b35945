import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/failures/kind.ts';
import { LoginError } from '../base/login-error.ts';
import type { Secret } from '../base/secret.ts';
import { redirectTargetOf } from './answer-failure.ts';
import { connectionError } from './connection-failure.ts';
import { decodeContent } from './content-coding.ts';
import { unusable } from './issued-token.ts';
import type { LoginAnswer } from './login-answer.ts';
import { answerOf, type LoginServer, type Steps } from './login-server.ts';
import { startStopwatch } from './stopwatch.ts';

/** The time limit of a login, from the reading of its files to the last byte of the answer (docs/tokens.md). */
export const LOGIN_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The time limit for the body of a failure: requests wait for the outcome. */
const FAILURE_BODY_MS = 1_000;

export interface LoginEndpoint {
  readonly server: LoginServer;
  readonly path: string;
  /** `LOGIN_TIMEOUT_MS` unless a test sets less. */
  readonly timeoutMs?: number;
  /** Aborts at that limit, if it has begun before the request. */
  readonly timeout?: AbortSignal;
}

/** The parts of a request that differ between logins. Headers alternate name and value. */
export interface LoginRequest {
  readonly headers: readonly string[];
  readonly authorization?: Secret | undefined;
  readonly body: Secret;
  /** The name of the endpoint in messages. */
  readonly to: string;
  /** The secrets that it sends, by their names in messages. */
  readonly secrets: Readonly<Record<string, Secret>>;
}

/**
 * One POST and its whole answer. Never sends twice, follows no redirect, and ends soon after `signal` aborts. The body of
 * a failure is empty unless it is short and came whole.
 *
 * @throws LoginError if no answer comes, or if that of a login is too large
 */
export async function postLogin(
  endpoint: LoginEndpoint,
  request: LoginRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<LoginAnswer> {
  const timeoutMs = endpoint.timeoutMs ?? LOGIN_TIMEOUT_MS;
  const timeout = endpoint.timeout ?? AbortSignal.timeout(timeoutMs);
  const stop = startStopwatch(clock);
  const steps = { connected: false, answered: false };
  try {
    const answer = await post(endpoint, request, steps, AbortSignal.any([signal, timeout]));
    return { ...answer, ...stop() };
  } catch (error) {
    if (error instanceof LoginError) throw error;
    const late = timeout.aborted;
    throw connectionError(error, endpoint.server.origin, { ...steps, late, limitMs: timeoutMs });
  }
}

async function post(
  endpoint: LoginEndpoint,
  request: LoginRequest,
  steps: Steps,
  signal: AbortSignal,
): Promise<Pick<LoginAnswer, 'status' | 'headers' | 'redirect' | 'body'>> {
  const body = Buffer.from(request.body.expose());
  const { authorization } = request;
  const proof = authorization === undefined ? [] : ['authorization', authorization.expose()];
  const headers = [...request.headers, ...proof, 'content-length', `${body.byteLength}`];
  const question = { method: 'POST', path: endpoint.path, headers, body };
  const answer = await answerOf(endpoint.server, question, steps, signal);
  const { date, location, 'retry-after': retryAfter } = answer.headers;
  return {
    status: answer.statusCode!,
    headers: { date, retryAfter },
    ...(location !== undefined && { redirect: redirectTargetOf(location, endpoint.server.origin) }),
    body: answer.statusCode === 200 ? await loginBody(answer) : await failureBody(answer),
  };
}

async function loginBody(answer: IncomingMessage): Promise<Uint8Array> {
  const coded = await limitedBody(answer);
  if (coded === undefined) throw tooLarge();
  try {
    return decodeContent(coded, answer.headers['content-encoding'], MAX_ANSWER_BYTES);
  } catch (error) {
    throw codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : unusable("the answer's content coding can't be read", 200);
  }
}

function tooLarge(): LoginError {
  return unusable('the answer is larger than 64 KiB', 200);
}

/** The status says enough, so a body that is too long, breaks off or never ends is ignored. */
async function failureBody(answer: IncomingMessage): Promise<Uint8Array> {
  const limit = setTimeout(() => answer.destroy(), FAILURE_BODY_MS);
  try {
    const coded = (await limitedBody(answer)) ?? new Uint8Array();
    return decodeContent(coded, answer.headers['content-encoding'], MAX_ANSWER_BYTES);
  } catch {
    return new Uint8Array();
  } finally {
    clearTimeout(limit);
  }
}

/** The body of an answer; undefined if it is larger than 64 KiB. */
export async function limitedBody(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
