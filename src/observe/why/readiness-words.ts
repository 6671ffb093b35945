import { span } from '../../base/span.ts';
import type { Readiness, Status } from '../status.ts';

/** States in which there is no token to send. */
const UNREADY = ['starting', 'expired', 'refused'];

/**
 * Why a proxy is not ready, a line for each reason: at least one.
 *
 * @param status the body of `GET /status`, if this machine may read it: it has the failure in words
 */
export function whyUnready(readiness: Readiness, status: unknown): string[] {
  const lines = credentialsIn(UNREADY, readiness, status);
  if (readiness.draining) return ['bearerd is stopping', ...lines];
  // A bearerd of another version may have a state that is not known here.
  return lines.length === 0
    ? ['bearerd says that it is not ready, and not why: see the log of bearerd']
    : lines;
}

/**
 * A line for each credential that has no token, or whose last login failed while it has one.
 *
 * @param wasRejected whether the upstream rejected the token of that credential before its expiry, if that is known
 */
export function failingLogins(readiness: Readiness, status: unknown, wasRejected?: WasRejected): string[] {
  return credentialsIn([...UNREADY, 'degraded'], readiness, status, wasRejected);
}

type WasRejected = (credential: string) => boolean;

function credentialsIn(
  states: readonly string[],
  { credentials }: Readiness,
  status: unknown,
  wasRejected: WasRejected = () => false,
): string[] {
  const told = (status as Partial<Status> | undefined)?.credentials;
  return Object.entries(credentials)
    .filter(([, { state }]) => states.includes(state))
    .map(([name, { state, reason, nextLoginInSeconds, expiresInSeconds }]) => {
      const isRejected = state === 'expired' && wasRejected(name);
      const why =
        told?.[name]?.lastFailure?.message ??
        (reason && `the last login: ${reason}`) ??
        waitsFor(state, isRejected);
      const next =
        nextLoginInSeconds === null || (reason === null && !isRejected) ? '' : nextTry(nextLoginInSeconds);
      const what =
        state === 'degraded'
          ? `cannot renew its token, ${valid(expiresInSeconds)}`
          : `is not ready${isRejected ? '' : ` (${state})`}`;
      return `credential ${name} ${what}: ${why.replace(/\.?$/, '.')}${next}`;
    });
}

function waitsFor(state: string, isRejected: boolean): string {
  if (isRejected) return 'the upstream rejected its token';
  return state === 'starting' ? 'no login has ended yet' : 'the login for a new one has not ended yet';
}

/** The seconds are rounded down, and "in 0 s" would say little. */
function nextTry(inSeconds: number): string {
  return ` Next try in ${Math.max(1, inSeconds)} s.`;
}

function valid(forSeconds: number | null): string {
  return `which is still valid${forSeconds === null ? '' : ` for ${span(forSeconds * 1_000)}`}`;
}
