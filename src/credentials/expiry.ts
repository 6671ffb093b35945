/** When does a token end? Pure: what the session endpoint said, and when it was asked and heard. */

/** The lifetime that is assumed where the answer gives none (docs/tokens.md). */
export const ASSUMED_LIFETIME_MS = 15 * 60_000;
/** What is longer than this is cut to it: no arithmetic on it can then overflow. */
const MAX_LIFETIME_MS = 100 * 365 * 86_400_000;

export interface AnswerTiming {
  /** Wall clock when the answer was complete. */
  readonly receivedWallMs: number;
  /** From the request's start to the answer's end. */
  readonly elapsedMs: number;
  /** The answer's `Date` header as epoch milliseconds, if it had one that could be read. */
  readonly serverDateMs: number | undefined;
}

export interface Expiry {
  /** From the answer's arrival; zero or less when the token is dead on arrival. */
  readonly lifetimeMs: number;
  /** The field that it was taken from, for the log: `expiresAt`, …, `jwt exp`, `assumed`. */
  readonly source: string;
  /** Fields that were there and could not be read. */
  readonly unreadable: readonly string[];
}

/** `fields` is the parsed JSON object of the answer. */
export function expiryOf(fields: Record<string, unknown>, token: string, timing: AnswerTiming): Expiry {
  const unreadable: string[] = [];
  const absolute = (at: number) => at - serverNowMs(timing);
  const relative = (seconds: number) => seconds * 1000 - timing.elapsedMs;
  const candidates: [string, unknown, (value: unknown) => number | undefined, (n: number) => number][] = [
    ['expiresAt', fields.expiresAt, parseTimestamp, absolute],
    ['expires_at', fields.expires_at, (v) => parseTimestamp(v) ?? parseEpochSeconds(v), absolute],
    ['expires_in', fields.expires_in, parseSeconds, relative],
    ['expiresIn', fields.expiresIn, parseSeconds, relative],
    ['jwt exp', jwtExp(token), parseEpochSeconds, absolute],
  ];
  for (const [source, raw, parse, toLifetime] of candidates) {
    if (raw === undefined || raw === null) continue;
    const value = parse(raw);
    if (value === undefined) unreadable.push(source);
    else return { lifetimeMs: Math.min(toLifetime(value), MAX_LIFETIME_MS), source, unreadable };
  }
  return { lifetimeMs: ASSUMED_LIFETIME_MS - timing.elapsedMs, source: 'assumed', unreadable };
}

/**
 * The server's clock at the answer's arrival. Ours is believed while it lies within what `Date` allows (whole
 * seconds, and the answer's way); else the latest time that it can be there, so that an error shortens a life.
 */
export function serverNowMs({ receivedWallMs, elapsedMs, serverDateMs }: AnswerTiming): number {
  if (serverDateMs === undefined) return receivedWallMs;
  const latest = serverDateMs + 999 + elapsedMs;
  return receivedWallMs >= serverDateMs && receivedWallMs <= latest ? receivedWallMs : latest;
}

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$/;

/**
 * `YYYY-MM-DDTHH:MM:SS[.ffffff][Z|±HH:MM]` as epoch milliseconds; no zone means UTC. `new Date` would take it
 * for local time, and would make the 1st of March of the 30th of February.
 */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const match = TIMESTAMP.exec(value.trim());
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const fractionMs = match[7] === undefined ? 0 : Math.floor(Number(`0.${match[7]}`) * 1000);
  const date = new Date(0);
  // Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, fractionMs);
  const asWritten =
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  if (!asWritten) return undefined;
  const offsetMinutes = match[9] === undefined ? 0 : Number(`${match[9]}1`) * (Number(match[10]) * 60 + Number(match[11]));
  return date.getTime() - offsetMinutes * 60_000;
}

function parseEpochSeconds(value: unknown): number | undefined {
  const seconds = parseSeconds(value);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** A finite number, or the same in decimal digits as a string. */
function parseSeconds(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'string' && /^-?\d{1,15}(?:\.\d+)?$/.test(value.trim())) return Number(value);
  return undefined;
}

/** The `exp` claim (RFC 7519 §4.1.4), unverified: it is the upstream that has to trust the token, not we. */
function jwtExp(token: string): unknown {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1]!, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as { exp?: unknown }).exp : undefined;
  } catch {
    return undefined;
  }
}
