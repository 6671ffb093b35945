import type { Readiness, Status } from './status.ts';

/** States in which there is no token to send. */
const UNREADY = ['starting', 'expired', 'refused'];

/**
 * Why a proxy is not ready, a line for each reason: at least one.
 *
 * @param status the body of `GET /status`, where this machine may read it: it has the failure in words
 */
export function whyUnready(readiness: Readiness, status: unknown): string[] {
  const lines = credentialsIn(UNREADY, readiness, status);
  if (readiness.draining) return ['bearerd is stopping', ...lines];
  // A bearerd of another version may have a state that is not known here.
  return lines.length === 0 ? ['bearerd says that it is not ready, and not why: see its log'] : lines;
}

/** A line for each credential that has no token, or whose last login failed while it has one. */
export function failingLogins(readiness: Readiness, status: unknown): string[] {
  return credentialsIn([...UNREADY, 'degraded'], readiness, status);
}

function credentialsIn(states: readonly string[], { credentials }: Readiness, status: unknown): string[] {
  const told = (status as Partial<Status> | undefined)?.credentials;
  return Object.entries(credentials)
    .filter(([, { state }]) => states.includes(state))
    .map(([name, { state, reason, nextLoginInSeconds }]) => {
      const why =
        told?.[name]?.lastFailure?.message ??
        (reason && `the last login: ${reason}`) ??
        (state === 'starting' ? 'no login has ended yet' : 'the login for a new one has not ended yet');
      const next =
        nextLoginInSeconds === null || reason === null ? '' : ` Next try in ${nextLoginInSeconds} s.`;
      const what =
        state === 'degraded' ? 'cannot renew its token, which is still valid' : `is not ready (${state})`;
      return `credential ${name} ${what}: ${why.replace(/\.?$/, '.')}${next}`;
    });
}
