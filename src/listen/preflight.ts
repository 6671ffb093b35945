import type { ServerResponse } from 'node:http';
import { closeUnlessComplete } from '../forward/client/problem.ts';
import type { RequestHead } from '../forward/client/request-head.ts';

/** A browser may keep the answer to a preflight this long. */
const MAX_AGE_S = '600';

/** Answers a CORS preflight (Fetch §4.8), which can't carry a caller key. @param idLine the ID's header and value, or empty */
export function answerPreflight(
  response: ServerResponse,
  head: RequestHead,
  origin: string,
  idLine: readonly string[],
): void {
  const headers = [
    'access-control-allow-origin',
    origin,
    'access-control-allow-methods',
    head.preflightMethod!,
    'access-control-max-age',
    MAX_AGE_S,
    'vary',
    'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  ];
  if (head.preflightHeaders !== undefined)
    headers.push('access-control-allow-headers', head.preflightHeaders);
  if (head.preflightPrivateNetwork) headers.push('access-control-allow-private-network', 'true');
  headers.push(...idLine);
  closeUnlessComplete(response);
  response.writeHead(204, headers);
  response.end();
}
