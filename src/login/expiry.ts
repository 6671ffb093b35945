import { parseTimestamp } from './timestamp.ts';

// When a token expires. Pure: the answer and its timing are arguments.

/** The assumed lifetime if the answer gives none (docs/tokens.md). */
const ASSUMED_LIFETIME_MS = 15 * 60_000;
/** The end of the year 9999. A larger number may be in milliseconds, and is not read. */
const MAX_EPOCH_SECONDS = 253_402_300_799;
/** `Date` has whole seconds: the server's clock may be this much later. */
const DATE_PRECISION_MS = 999;

export interface AnswerTiming {
  /** Wall clock when the answer was complete. */
  readonly receivedWallMs: number;
  /** From the request's start to the answer's end. */
  readonly elapsedMs: number;
  /** The answer's `Date` header as epoch milliseconds; undefined without a valid one. */
  readonly serverDateMs: number | undefined;
}

interface Expiry {
  /** From the answer's arrival; zero or less if the token has expired by then. */
  readonly lifetimeMs: number;
  /** The field that gave it, for the log: `expiresAt`, …, `jwt exp`, `assumed`. */
  readonly source: string;
  /** Fields with values that could not be read. */
  readonly unreadable: readonly string[];
}

/** `fields` is the parsed JSON object of the answer. */
export function expiryOf(fields: Record<string, unknown>, token: string, timing: AnswerTiming): Expiry {
  const unreadable: string[] = [];
  const absolute = (at: number) => at - serverNowMs(timing);
  // A later time can't be formatted as a date.
  const longestMs = MAX_EPOCH_SECONDS * 1000 - timing.receivedWallMs;
  // Counted from when the request was sent: the server may have made the token any time after that.
  const relative = (seconds: number) => seconds * 1000 - timing.elapsedMs;
  const candidates: [string, unknown, (raw: unknown) => number | undefined, (value: number) => number][] = [
    ['expiresAt', fields.expiresAt, parseTimestamp, absolute],
    ['expires_at', fields.expires_at, (raw) => parseTimestamp(raw) ?? parseEpochSeconds(raw), absolute],
    ['expires_in', fields.expires_in, parseSeconds, relative],
    ['expiresIn', fields.expiresIn, parseSeconds, relative],
    ['jwt exp', jwtExp(token), parseEpochSeconds, absolute],
  ];
  for (const [source, raw, parse, toLifetime] of candidates) {
    if (raw === undefined || raw === null) continue;
    const value = parse(raw);
    if (value === undefined) unreadable.push(source);
    else return { lifetimeMs: Math.min(toLifetime(value), longestMs), source, unreadable };
  }
  return { lifetimeMs: ASSUMED_LIFETIME_MS - timing.elapsedMs, source: 'assumed', unreadable };
}

/**
 * The server's time at the answer's arrival. Our clock counts if it is within the precision of `Date` (whole seconds,
 * and the duration of the request). Otherwise it is the latest time that the server's clock can have, so that an error
 * shortens the token's life.
 */
export function serverNowMs({ receivedWallMs, elapsedMs, serverDateMs }: AnswerTiming): number {
  if (serverDateMs === undefined) return receivedWallMs;
  return isWithinDatePrecision(receivedWallMs - serverDateMs, elapsedMs)
    ? receivedWallMs
    : serverDateMs + DATE_PRECISION_MS + elapsedMs;
}

/** True if our clock may be equal to the server's. @param aheadMs our clock at the answer's arrival, less its `Date` */
export function isWithinDatePrecision(aheadMs: number, elapsedMs: number): boolean {
  return aheadMs >= 0 && aheadMs <= DATE_PRECISION_MS + elapsedMs;
}

/** As epoch milliseconds. */
function parseEpochSeconds(raw: unknown): number | undefined {
  const seconds = parseSeconds(raw);
  return seconds === undefined || seconds > MAX_EPOCH_SECONDS ? undefined : seconds * 1000;
}

/** A finite number, or the same in decimal digits as a string. */
function parseSeconds(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  if (typeof raw === 'string' && /^-?\d{1,15}(?:\.\d+)?$/.test(raw.trim())) return Number(raw);
  return undefined;
}

/** When a JWT says that it ends, as epoch milliseconds; undefined if it does not, or is none. */
export function jwtEndMs(token: string): number | undefined {
  return parseEpochSeconds(jwtExp(token));
}

/** The `exp` claim (RFC 7519 §4.1.4), unverified: the upstream decides whether to trust the token. */
function jwtExp(token: string): unknown {
  const [, payload, signature, ...more] = token.split('.');
  if (payload === undefined || signature === undefined || more.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as { exp?: unknown }).exp : undefined;
  } catch {
    return undefined;
  }
}
