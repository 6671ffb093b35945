import { ConnectTimeoutError } from '../base/errors.ts';
import { codeOf, connectionFailureOf, failureOfCode } from '../base/failures/kind.ts';
import { CONNECTION_FAILURES, type ConnectionFailure } from '../base/failures/words.ts';
import { Problem } from '../base/problem.ts';
import type { TimeLimit } from '../base/time-limit.ts';

/** The text of a failure is constant: nothing of the error gets to a client. */
interface FailureDetails {
  /** A type of RFC 9209 §2.3 that is more exact than the usual one. */
  readonly proxyStatus?: string;
  readonly retryAfterS?: number | undefined;
  /** The time limit that has passed. */
  readonly limit?: TimeLimit | undefined;
  readonly cause?: unknown;
}

/** The problem of a request that got no response from the upstream, for a known reason. */
export function upstreamFailure(failure: ConnectionFailure, details?: FailureDetails): Problem {
  return problemIn(failure, failure, details);
}

/** @param kind decides status and code; differs from `failure`, whose words are used, for an outbound proxy */
function problemIn(failure: ConnectionFailure, kind: ConnectionFailure, details?: FailureDetails): Problem {
  const { what, remedy } = CONNECTION_FAILURES[failure];
  const { problem, proxyStatus } = CONNECTION_FAILURES[kind];
  return new Problem(problem, { proxyStatus, detail: `The upstream ${what}.`, remedy, ...details });
}

/** The problem of a request that got no connection, so that nothing was sent. */
export function connectProblem(error: unknown): Problem {
  if (connectionFailureOf(error) !== 'closed') return upstreamProblem(error);
  return upstreamFailure('closed-connecting', { cause: error });
}

/** The problem of a request that got no response. Depends on the error's `code`, never on its message. */
export function upstreamProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // If the outbound proxy can't be reached, the words are the proxy's; code and status are those of the failure.
  const failure = connectionFailureOf(error);
  const kind = failure === 'outbound-proxy' ? failureOfCode(codeOf(error)) : failure;
  // Sockets become free as other requests end.
  const retryAfterS = CONNECTION_FAILURES[kind].problem === 'overloaded' ? 1 : undefined;
  return problemIn(failure, kind, { retryAfterS, limit: connectLimit(error), cause: error });
}

/** Undefined where no limit of ours has passed: the system has its own. */
function connectLimit(error: unknown): TimeLimit | undefined {
  if (error instanceof ConnectTimeoutError) return { setting: 'connect', ms: error.limitMs };
  const { cause } = (error ?? {}) as { cause?: unknown };
  return cause === undefined ? undefined : connectLimit(cause);
}
