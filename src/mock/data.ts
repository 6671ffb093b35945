import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorize } from './authorize.ts';
import { delayMs } from './behaviour.ts';
import { findEndpoint } from './endpoints.ts';
import { answerFault, isFault } from './faults.ts';
import { ApiError, pathOf, wait } from './http.ts';
import type { MockState } from './state.ts';

/** Answers every call except those to the session endpoint and to `/__mock`. */
export async function answerData(
  mock: MockState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  mock.stats.requests += 1;
  response.once('finish', () => {
    if (response.statusCode === 401) mock.stats.unauthorized += 1;
  });
  const { data: mode, dataDelayMs, retryAfter } = mock.behaviour;
  if (!(await wait(response, delayMs(mode, dataDelayMs)))) return;
  if (isFault(mode)) return answerFault(mode, { response, retryAfter: String(retryAfter) });
  const { endpoint, param } = findEndpoint(pathOf(request.url!));
  const { methods, takes, answer } = endpoint;
  if (methods !== undefined && !methods.includes(request.method!)) {
    const allow = methods.join(', ');
    throw new ApiError(405, 'method_not_allowed', `this path takes ${allow} only`, { allow });
  }
  const known = authorize(mock, request, takes);
  await answer({ mock, request, response, known, param });
}
