import { UsageError } from '../base/errors.ts';
import { isObject } from './http.ts';

/** How a login goes. All but the first six are faults that look at nothing in the request. */
export const LOGIN_MODES = [
  'ok',
  'slow',
  // The last token again, as from a service that keeps it until it expires, even when it was revoked.
  'same-token',
  'expired-token',
  'no-token',
  'no-expiry',
  'down',
  'hang',
  'cut',
  'not-http',
  'garbage',
  'huge',
  'redirect',
  'server-error',
  'unavailable',
  'rate-limit',
  'refuse-400',
  'refuse-401',
  'forbid-403',
] as const;

/** How every other call goes, `/__mock` excepted. */
export const DATA_MODES = [
  'ok',
  'slow',
  'down',
  'hang',
  'cut',
  'not-http',
  'garbage',
  'redirect',
  'server-error',
  'unavailable',
  'rate-limit',
  'unauthorized',
  'forbidden',
] as const;

export type LoginMode = (typeof LOGIN_MODES)[number];
export type DataMode = (typeof DATA_MODES)[number];

export interface Behaviour {
  readonly login: LoginMode;
  readonly data: DataMode;
  /** The wait before any answer; `slow` with 0 here waits `SLOW_MS`. */
  readonly loginDelayMs: number;
  readonly dataDelayMs: number;
  /** `Retry-After` of `rate-limit` and `unavailable`, as it is sent: seconds or a date; '' sends none. */
  readonly retryAfter: string | number;
  /** Of tokens issued from now on. */
  readonly tokenLifetimeMs: number;
}

const SLOW_MS = 3_000;
const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** A hundred years: beyond, a date stops having a four-digit year. */
const LONGEST_MS = 100 * 365 * UNITS_MS.d;

/** Names on the command line, and the setting that each one is. */
const TEXT_NAMES = {
  login: 'login',
  data: 'data',
  loginDelay: 'loginDelayMs',
  dataDelay: 'dataDelayMs',
  retryAfter: 'retryAfter',
  tokenLifetime: 'tokenLifetimeMs',
} as const satisfies Record<string, keyof Behaviour>;

/** What is right for each setting, in words, and the test for it. */
const RULES: Record<keyof Behaviour, readonly [expected: string, ok: (value: unknown) => boolean]> = {
  login: [`one of ${LOGIN_MODES.join(', ')}`, (value) => LOGIN_MODES.some((mode) => mode === value)],
  data: [`one of ${DATA_MODES.join(', ')}`, (value) => DATA_MODES.some((mode) => mode === value)],
  loginDelayMs: ['a number of milliseconds', isMilliseconds],
  dataDelayMs: ['a number of milliseconds', isMilliseconds],
  retryAfter: ['a number of seconds, a date, or an empty string', isRetryAfter],
  tokenLifetimeMs: ['a number of milliseconds', isMilliseconds],
};

export function defaultBehaviour(tokenLifetimeMs: number): Behaviour {
  return { login: 'ok', data: 'ok', loginDelayMs: 0, dataDelayMs: 0, retryAfter: 2, tokenLifetimeMs };
}

/** `patch` as a part of a behaviour. Throws a `UsageError` that names every fault and what would be right. */
export function checkBehaviour(patch: unknown): Partial<Behaviour> {
  if (!isObject(patch)) throw new UsageError('a behaviour must be an object of settings');
  const faults = Object.entries(patch).flatMap(([name, value]) => {
    if (!Object.hasOwn(RULES, name)) return [unknownName(name, Object.keys(RULES))];
    const [expected, ok] = RULES[name as keyof Behaviour];
    return ok(value) ? [] : [`${name}: ${JSON.stringify(value)} must be ${expected}`];
  });
  if (faults.length > 0) throw new UsageError(faults.join('; '));
  return patch as Partial<Behaviour>;
}

/** `login=slow,tokenLifetime=3s` as a part of a behaviour. Throws a `UsageError` that names the first fault. */
export function parseBehaviour(text: string): Partial<Behaviour> {
  const settings = text.split(',').map((piece) => {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(piece) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`"${piece}" must be NAME=VALUE; names: ${Object.keys(TEXT_NAMES).join(', ')}`);
    }
    if (!Object.hasOwn(TEXT_NAMES, name)) throw new UsageError(unknownName(name, Object.keys(TEXT_NAMES)));
    const key = TEXT_NAMES[name as keyof typeof TEXT_NAMES];
    return [key, key.endsWith('Ms') ? parseDuration(name, value) : value] as const;
  });
  return checkBehaviour(Object.fromEntries(settings));
}

/** How long an answer waits in this mode. */
export function delayMs(mode: LoginMode | DataMode, configuredMs: number): number {
  return mode === 'slow' && configuredMs === 0 ? SLOW_MS : configuredMs;
}

function parseDuration(name: string, text: string): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (isMilliseconds(ms)) return ms;
  throw new UsageError(`${name}: "${text}" must be a duration such as 500ms, 3s, 15m, 1h, 60d`);
}

function unknownName(name: string, valid: readonly string[]): string {
  return `unknown setting "${name}"; valid: ${valid.join(', ')}`;
}

function isMilliseconds(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= LONGEST_MS;
}

/** Printable ASCII goes through as it is, so that a nonsensical value can be rehearsed too. */
function isRetryAfter(value: unknown): boolean {
  return typeof value === 'number' ? isMilliseconds(value) : /^[\x20-\x7e]{0,100}$/.test(String(value));
}
