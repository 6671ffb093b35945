import { JSON_BODY, JSON_BODY_8K, LARGE, MIDDLE, PATHS, SMALL, TOKEN } from '../fixtures.ts';

/** One kind of request: what goes over the wire, and the body that must come back with a 200. */
export interface Exchange {
  readonly name: string;
  readonly request: Buffer;
  readonly answer: Buffer;
}

export function exchange(
  name: string,
  method: string,
  path: string,
  answer: Buffer,
  body?: Buffer,
): Exchange {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'User-Agent: bench', 'Accept: */*'];
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return { name, answer, request: body === undefined ? head : Buffer.concat([head, body]) };
}

export const SMALL_GET = exchange('small GET', 'GET', PATHS.small, SMALL);
export const JSON_POST = exchange('JSON POST', 'POST', PATHS.small, SMALL, JSON_BODY);
export const POST_8K = exchange('8 KiB POST', 'POST', PATHS.many, SMALL, JSON_BODY_8K);
export const MIDDLE_DOWN = exchange('100 KB down', 'GET', PATHS.middle, MIDDLE);
export const DOWNLOAD = exchange('10 MB down', 'GET', PATHS.large, LARGE);
export const UPLOAD = exchange('10 MB up', 'POST', PATHS.large, SMALL, LARGE);

/** For the upstream itself, which takes nothing without a credential. */
export function withCredential(of: Exchange): Exchange {
  const at = of.request.indexOf('\r\n') + 2;
  const line = Buffer.from(`Authorization: Bearer ${TOKEN}\r\n`);
  return { ...of, request: Buffer.concat([of.request.subarray(0, at), line, of.request.subarray(at)]) };
}
