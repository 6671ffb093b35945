import { PROBLEMS, Problem, type ProblemCode } from '../../base/problem.ts';
import { bodyOf } from '../../forward/client/problem.ts';
import { word } from './words.ts';

/** The arguments with which HAProxy answers a problem as bearerd does. */
export function problemReply(code: ProblemCode): string {
  const problem = new Problem(code);
  const body = word(bodyOf(problem).toString().trim());
  const proxyStatus = word(`bearerd; error=${problem.proxyStatus}`);
  return `status ${PROBLEMS[code].status} content-type application/problem+json string ${body} hdr cache-control no-store hdr proxy-status ${proxyStatus}`;
}
