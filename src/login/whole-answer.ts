import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/failures/kind.ts';
import { LoginError } from '../base/login-error.ts';
import { answerFailure, redirectTargetOf } from './answer-failure.ts';
import { connectionError } from './connection-failure.ts';
import { decodeContent } from './content-coding.ts';
import type { LoginAnswer } from './login-answer.ts';
import { answerOf, type LoginServer, type Question, type Steps } from './login-server.ts';
import { startStopwatch } from './stopwatch.ts';

const MAX_ANSWER_BYTES = 64 * 1024;
/** The time limit for the body of a failure: requests wait for the outcome. */
const FAILURE_BODY_MS = 1_000;

/** From its creation on. `ms` is for messages. */
export interface TimeLimit {
  readonly ms: number;
  readonly signal: AbortSignal;
}

export function timeLimit(ms: number): TimeLimit {
  return { ms, signal: AbortSignal.timeout(ms) };
}

interface Asked {
  readonly server: LoginServer;
  readonly question: Question;
  readonly limit: TimeLimit;
  /** The failure if the body of a 200 can't be read. */
  readonly unreadable: 'no-token' | 'no-metadata';
}

/**
 * One request and its whole answer, without its content coding. Never sends twice, follows no redirect, and ends soon
 * after `signal` aborts. The body of a failure is empty unless it is short and came whole.
 *
 * @throws LoginError if no answer comes, or if the body of a 200 can't be read or is too large
 */
export async function wholeAnswer(asked: Asked, clock: Clock, signal: AbortSignal): Promise<LoginAnswer> {
  const { server, limit } = asked;
  const stop = startStopwatch(clock);
  const steps = { connected: false, answered: false };
  try {
    const answer = await ask(asked, steps, AbortSignal.any([signal, limit.signal]));
    return { ...answer, ...stop() };
  } catch (error) {
    if (error instanceof LoginError) throw error;
    throw connectionError(error, server.origin, { ...steps, late: limit.signal.aborted, limitMs: limit.ms });
  }
}

async function ask(
  { server, question, unreadable }: Asked,
  steps: Steps,
  signal: AbortSignal,
): Promise<Pick<LoginAnswer, 'status' | 'headers' | 'redirect' | 'body'>> {
  const answer = await answerOf(server, question, steps, signal);
  const { date, location, 'retry-after': retryAfter } = answer.headers;
  return {
    status: answer.statusCode!,
    headers: { date, retryAfter },
    ...(location !== undefined && { redirect: redirectTargetOf(location, server.origin) }),
    body: answer.statusCode === 200 ? await goodBody(answer, unreadable) : await failureBody(answer),
  };
}

async function goodBody(answer: IncomingMessage, unreadable: Asked['unreadable']): Promise<Uint8Array> {
  const failure = (reason: string) => answerFailure(unreadable, [reason], { status: 200 });
  const tooLarge = 'the answer is larger than 64 KiB';
  const coded = await limitedBody(answer);
  if (coded === undefined) throw failure(tooLarge);
  try {
    return decodeContent(coded, answer.headers['content-encoding'], MAX_ANSWER_BYTES);
  } catch (error) {
    const isTooLarge = codeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    throw failure(isTooLarge ? tooLarge : "the answer's content coding can't be read");
  }
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
async function limitedBody(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
