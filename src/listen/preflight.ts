import type { ServerResponse } from 'node:http';
import { lastUnlessWhole } from '../forward/client/problem.ts';
import type { RequestHead } from '../forward/client/request-head.ts';

/** A preflight's answer may be kept this long by the browser. */
const MAX_AGE_S = '600';

/** The browser's question before a cross-origin request (Fetch §4.8); it can't carry a caller key. */
export function answerPreflight(response: ServerResponse, head: RequestHead, origin: string): void {
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
  lastUnlessWhole(response);
  response.writeHead(204, headers);
  response.end();
}
