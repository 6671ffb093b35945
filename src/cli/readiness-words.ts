import type { Readiness, Status } from '../observe/status.ts';

/** States in which there is no token to send. */
const UNREADY = new Set(['starting', 'expired', 'refused']);

/**
 * Why a proxy is not ready, a line for each reason: at least one.
 *
 * @param status what `GET /status` says, where it may be asked: it has the failure in words
 */
export function whyUnready({ draining, credentials }: Readiness, status: unknown): string[] {
  const told = (status as Partial<Status> | undefined)?.credentials;
  const waiting = Object.entries(credentials).filter(([, { state }]) => UNREADY.has(state));
  const lines = waiting.map(([name, { state, reason, nextLoginInSeconds }]) => {
    const why =
      told?.[name]?.lastFailure?.message ??
      (reason && `the last login: ${reason}`) ??
      'no login has ended yet';
    const next =
      nextLoginInSeconds === null || reason === null ? '' : ` Next try in ${nextLoginInSeconds} s.`;
    return `credential ${name} is not ready (${state}): ${why.replace(/\.?$/, '.')}${next}`;
  });
  if (draining) return ['it is stopping', ...lines];
  // One of another version may know a state that has no name here.
  return lines.length === 0 ? ['it says that it is not ready, and not why'] : lines;
}
