import { UsageError } from '../base/errors.ts';
import { isObject } from './http.ts';

/** How a login goes. All but the first six are faults, independent of the request. */
export const LOGIN_MODES = [
  'ok',
  'slow',
  // The last token again until it expires, even after a revocation.
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

/** How every other call goes, except `/__mock`. */
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
type DataMode = (typeof DATA_MODES)[number];

export interface Behaviour {
  readonly login: LoginMode;
  readonly data: DataMode;
  /** The wait before any answer; `slow` with 0 here waits `SLOW_MS`. */
  readonly loginDelayMs: number;
  readonly dataDelayMs: number;
  /** `Retry-After` of `rate-limit` and `unavailable`, as it is sent: seconds or a date; '' sends none. */
  readonly retryAfter: string | number;
  /** The lifetime of tokens issued from now on. */
  readonly tokenLifetimeMs: number;
}

const SLOW_MS = 3_000;
const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** A hundred years. Dates must keep a four-digit year. */
const LONGEST_MS = 100 * 365 * UNITS_MS.d;

/** The names on the command line, and their settings. */
const TEXT_NAMES = {
  login: 'login',
  data: 'data',
  loginDelay: 'loginDelayMs',
  dataDelay: 'dataDelayMs',
  retryAfter: 'retryAfter',
  tokenLifetime: 'tokenLifetimeMs',
} as const satisfies Record<string, keyof Behaviour>;

/** The valid values of each setting: in words, and as a test. */
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

/** Checks a change of the behaviour. Throws a `UsageError` that names every fault and the valid values. */
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

/** Reads a change such as `login=slow,tokenLifetime=3s`. Throws a `UsageError` that names the fault. */
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

/** The delay of an answer in this mode. */
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

/** Any printable ASCII is allowed, so that invalid values can be tried, too. */
function isRetryAfter(value: unknown): boolean {
  return typeof value === 'number' ? isMilliseconds(value) : /^[\x20-\x7e]{0,100}$/.test(String(value));
}
