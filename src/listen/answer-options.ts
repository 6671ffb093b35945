import type { ServerResponse } from 'node:http';
import { closeUnlessComplete } from '../forward/client/problem.ts';

/** Answers `OPTIONS *` (RFC 9110 §9.3.7) with the methods of this server. */
export function answerOptions(
  response: ServerResponse,
  allow: string,
  corsOrigin?: string,
  idLine: readonly string[] = [],
): void {
  const headers = ['allow', allow, ...idLine];
  if (corsOrigin !== undefined) headers.push('access-control-allow-origin', corsOrigin, 'vary', 'Origin');
  closeUnlessComplete(response);
  response.writeHead(204, headers);
  response.end();
}
