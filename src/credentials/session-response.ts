import { LoginError } from '../errors.ts';
import { type AnswerTiming, expiryOf } from './expiry.ts';

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

export interface IssuedToken {
  readonly token: string;
  /** From the answer's arrival to the expiry; always positive. */
  readonly lifetimeMs: number;
  /** For the log: what could not be read, or had to be assumed. Holds no bytes of the answer. */
  readonly warnings: readonly string[];
}

/** Printable ASCII without a space: what is legal after `Bearer ` in one header line. */
const USABLE_TOKEN = /^[\x21-\x7e]+$/;

/**
 * Judges an answer. Pure.
 *
 * @throws LoginError for everything that is not a login: only status 200 is one, and only with a usable token.
 */
export function readSessionAnswer(answer: SessionAnswer): IssuedToken {
  if (answer.status !== 200) throw failureOf(answer);
  const fields = parseObject(answer.body);
  const token = fields.accessToken ?? fields.access_token;
  if (typeof token !== 'string' || token === '') throw unusable('the answer holds no accessToken');
  if (!USABLE_TOKEN.test(token)) throw unusable('the token holds characters that no header may hold');

  const timing: AnswerTiming = {
    receivedWallMs: answer.receivedWallMs,
    elapsedMs: answer.elapsedMs,
    serverDateMs: parseHttpDate(answer.headers.date),
  };
  const { lifetimeMs, source, unreadable } = expiryOf(fields, token, timing);
  if (!(lifetimeMs > 0)) throw unusable(`the token had expired when it arrived (by ${source})`);
  const warnings = unreadable.map((field) => `${field} can't be read as a time and is ignored`);
  if (source === 'assumed') warnings.push('the answer gives no expiry; 15 minutes are assumed');
  return { token, lifetimeMs, warnings };
}

function failureOf({ status, headers, receivedWallMs }: SessionAnswer): LoginError {
  const retryAfterMs = parseRetryAfter(headers.retryAfter, parseHttpDate(headers.date) ?? receivedWallMs);
  const detail = { status, retryAfterMs };
  if (status === 400 || status === 401 || status === 403) {
    return new LoginError('refused', `the session endpoint refuses the credentials (status ${status})`, detail);
  }
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
    return new LoginError('rate-limited', `the session endpoint asks to wait (status ${status})`, detail);
  }
  if (status >= 300 && status < 400) {
    return new LoginError(
      'redirected',
      `the session endpoint redirects to ${hostOf(headers.location)}, which is never followed (status ${status})`,
      detail,
    );
  }
  return new LoginError('server-error', `the session endpoint answers with status ${status}`, detail);
}

function parseObject(body: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // No cause: the parser's message quotes the answer, and the answer may hold a token.
    throw unusable('the answer is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unusable('the answer is not a JSON object');
  }
  return value as Record<string, unknown>;
}

function unusable(reason: string): LoginError {
  return new LoginError('unusable', `the login gave no usable token: ${reason}`, { status: 200 });
}

/** Only the host: path and query of a redirect may hold anything. */
function hostOf(location: string | undefined): string {
  const url = location === undefined ? null : URL.parse(location, 'relative://');
  return url === null || url.host === '' ? 'another place' : url.host;
}

/** RFC 9110 §5.6.7, as epoch milliseconds; undefined where it is none. */
export function parseHttpDate(value: string | undefined): number | undefined {
  if (value === undefined || !/GMT$/.test(value.trim())) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

/** `Retry-After` (RFC 9110 §10.2.3) in seconds or as a date, to milliseconds from now; undefined where it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = parseHttpDate(text);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}
