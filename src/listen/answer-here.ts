import type { ServerResponse } from 'node:http';
import type { RequestEvent } from '../base/events.ts';
import { USUAL_METHODS } from '../base/methods.ts';
import { Problem } from '../base/problem.ts';
import { answerProblem } from '../forward/client/problem.ts';
import { type Admission, refuse } from './admission.ts';
import { answerOptions } from './answer-options.ts';
import { answerPreflight } from './preflight.ts';

/** A request that bearerd answers itself. */
type AnsweredHere = Exclude<Admission, { kind: 'forward' }>;

export const REFUSE_DRAINING = refuse(new Problem('draining', { retryAfterS: 1 }));
export const REFUSE_MALFORMED = refuse(new Problem('bad-request'));
/** A request from the fast lane that fits no present route: its lane was made for an older configuration. */
export const REFUSE_UNKNOWN_LANE = refuse(new Problem('no-route'));

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
