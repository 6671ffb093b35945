import { PROBLEMS, Problem, type ProblemCode } from '../../base/problem.ts';
import { bodyOf } from '../../forward/client/problem.ts';
import { word } from './words.ts';

/** The arguments that make HAProxy say a problem as bearerd says it. */
export function problemReply(code: ProblemCode): string {
  const problem = new Problem(code);
  const body = word(bodyOf(problem).toString().trim());
  const proxyStatus = word(`bearerd; error=${problem.proxyStatus}`);
  return `status ${PROBLEMS[code].status} content-type application/problem+json string ${body} hdr cache-control no-store hdr proxy-status ${proxyStatus}`;
}
