import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { LoginError } from '../errors.ts';
import { unusable } from './issued-token.ts';
import type { SessionAnswer } from './session-response.ts';

/** A whole login, from the first byte sent to the last one read (docs/tokens.md). */
const LOGIN_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export interface LoginEndpoint {
  readonly origin: string;
  readonly path: string;
  /** Verifies the endpoint's TLS certificate; made by the composition root. */
  readonly dispatcher: Dispatcher;
  /** `LOGIN_TIMEOUT_MS` unless a test has less patience. */
  readonly timeoutMs?: number;
}

/** What is sent: headers as undici takes them, name and value in turn. */
export interface LoginRequest {
  readonly headers: string[];
  readonly body: string;
  /** What the endpoint is called in a message. */
  readonly to: string;
  /** Whether the body of an answer that is no login says anything that is used; else it is not read. */
  readonly readsFailures: boolean;
}

/**
 * One POST and its whole answer. Never sends twice, never follows a redirect, and ends soon after `signal` aborts.
 * The body of an answer that is no login is there as far as it is short and came whole, else it is empty.
 *
 * @throws LoginError where there is no answer, or where a login's is too large.
 */
export async function postLogin(
  endpoint: LoginEndpoint,
  request: LoginRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const timeoutMs = endpoint.timeoutMs ?? LOGIN_TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  const sent = { wallMs: clock.wallMs(), monoMs: clock.monoMs() };
  try {
    const answer = await post(endpoint, request, AbortSignal.any([signal, timeout]));
    const receivedWallMs = clock.wallMs();
    // The further of the two: the machine may have slept in between, and the monotonic clock with it.
    const elapsedMs = Math.max(receivedWallMs - sent.wallMs, clock.monoMs() - sent.monoMs);
    return { ...answer, receivedWallMs, elapsedMs };
  } catch (error) {
    if (error instanceof LoginError) throw error;
    const reason = timeout.aborted ? `no whole answer within ${timeoutMs / 1000} s` : codeOf(error);
    throw new LoginError('unreachable', `the ${request.to} can't be reached: ${reason}`, { cause: error });
  }
}

async function post(
  { origin, path, dispatcher }: LoginEndpoint,
  request: LoginRequest,
  signal: AbortSignal,
): Promise<Pick<SessionAnswer, 'status' | 'headers' | 'body'>> {
  const { statusCode, headers, body } = await dispatcher.request({
    origin,
    path,
    method: 'POST',
    headers: request.headers,
    body: request.body,
    // Logins are far apart: a connection that is kept for the next one would be stale by then.
    reset: true,
    // The signal keeps the time of the whole.
    headersTimeout: 0,
    bodyTimeout: 0,
    signal,
  });
  return {
    status: statusCode,
    headers: {
      date: first(headers.date),
      retryAfter: first(headers['retry-after']),
      location: first(headers.location),
    },
    body:
      statusCode === 200
        ? await readLogin(body)
        : request.readsFailures
          ? await readFailure(body)
          : discard(body),
  };
}

async function readLogin(body: Dispatcher.ResponseData['body']): Promise<Uint8Array> {
  const bytes = await readLimited(body);
  if (bytes !== undefined) return bytes;
  throw unusable('the answer is larger than 64 KiB', 200);
}

/** The status says what matters: a body that is long, breaks off or never ends only says no more than that. */
async function readFailure(body: Dispatcher.ResponseData['body']): Promise<Uint8Array> {
  try {
    return (await readLimited(body)) ?? new Uint8Array();
  } catch {
    return new Uint8Array();
  }
}

function discard(body: Dispatcher.ResponseData['body']): Uint8Array {
  body.on('error', () => {}).destroy();
  return new Uint8Array();
}

/** Undefined where there is more than may be. */
async function readLimited(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** A library's error code is for the operator; its message may hold an address or more, and is left out. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown error';
}
