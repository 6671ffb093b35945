import type { ServerResponse } from 'node:http';
import type { RequestEvent } from '../base/events.ts';
import { Problem } from '../base/problem.ts';
import { answerProblem, USUAL_METHODS } from '../forward/client/problem.ts';
import type { Admission } from './admission.ts';
import { answerOptions } from './options.ts';
import { answerPreflight } from './preflight.ts';

/** A request that bearerd answers itself. */
type AnsweredHere = Exclude<Admission, { kind: 'forward' }>;

export const DRAINING = refusal(new Problem('draining', { retryAfterS: 1 }));
export const MALFORMED = refusal(new Problem('bad-request'));
/** A request from the fast lane that fits no present route: its lane was made for an older configuration. */
export const UNKNOWN_LANE = refusal(new Problem('no-route'));

export function answerHere(response: ServerResponse, admission: AnsweredHere, event: RequestEvent): void {
  if (admission.kind === 'refuse') {
    answerProblem(response, admission.problem, admission.corsOrigin, event);
    return;
  }
  event.status = 204;
  const { requestIdHeader, requestId } = event;
  const idLine = requestIdHeader === undefined ? [] : [requestIdHeader, requestId];
  if (admission.kind === 'preflight') answerPreflight(response, admission.head, admission.corsOrigin, idLine);
  else answerOptions(response, USUAL_METHODS, admission.corsOrigin, idLine);
}

function refusal(problem: Problem): Admission {
  return { kind: 'refuse', problem, corsOrigin: undefined };
}
