import { codeOf, connectionFailureOf, failureOfCode } from '../base/failures/kind.ts';
import { CONNECTION_FAILURES, type ConnectionFailure } from '../base/failures/words.ts';
import { Problem } from '../base/problem.ts';

/** Details of the one text for each failure: nothing of the error gets to a client. */
interface FailureDetails {
  /** A more exact RFC 9209 §2.3 type than the failure's usual one. */
  readonly proxyStatus?: string;
  readonly retryAfterS?: number | undefined;
  readonly cause?: unknown;
}

/** The answer for a request that got none from the upstream, for a reason that is known. */
export function upstreamFailure(failure: ConnectionFailure, details?: FailureDetails): Problem {
  return problemIn(failure, failure, details);
}

/** @param kind what it counts as, where that is not what the words say */
function problemIn(failure: ConnectionFailure, kind: ConnectionFailure, details?: FailureDetails): Problem {
  const { what, remedy } = CONNECTION_FAILURES[failure];
  const { problem, proxyStatus } = CONNECTION_FAILURES[kind];
  return new Problem(problem, { proxyStatus, detail: `The upstream ${what}.`, remedy, ...details });
}

/** The same for a request that found no connection, of which nothing was sent. */
export function connectProblem(error: unknown): Problem {
  if (connectionFailureOf(error) !== 'closed') return upstreamProblem(error);
  return upstreamFailure('closed-connecting', { cause: error });
}

/** The answer for a request that got none from the upstream. Judges by `code`, never by a message. */
export function upstreamProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // A failure on the way to the outbound proxy has the proxy's words, and counts as what it is.
  const failure = connectionFailureOf(error);
  const kind = failure === 'outbound-proxy' ? failureOfCode(codeOf(error)) : failure;
  // Sockets come free as others close.
  const retryAfterS = CONNECTION_FAILURES[kind].problem === 'overloaded' ? 1 : undefined;
  return problemIn(failure, kind, { retryAfterS, cause: error });
}
