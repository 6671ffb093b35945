import type { ServerResponse } from 'node:http';
import { lastUnlessWhole } from '../forward/client/problem.ts';

/** The answer to `OPTIONS *` (RFC 9110 §9.3.7): what may be asked of this server at all. */
export function answerOptions(response: ServerResponse, allow: string, corsOrigin?: string): void {
  const headers = ['allow', allow];
  if (corsOrigin !== undefined) headers.push('access-control-allow-origin', corsOrigin, 'vary', 'Origin');
  lastUnlessWhole(response);
  response.writeHead(204, headers);
  response.end();
}
