import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { systemClock } from '../base/clock.ts';

const BODY_LIMIT_BYTES = 1024 * 1024;

/** An error answer. The shape of its body is the mock's own: the API documents none. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, code: string, message: string, headers: OutgoingHttpHeaders = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'bad_request', message);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': bytes.length,
  });
  response.end(bytes);
}

/** Answers with an error. If the headers are already sent, it breaks the connection. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const known =
    error instanceof ApiError ? error : new ApiError(500, 'internal_error', 'the mock itself has a fault');
  sendJson(response, known.status, { error: known.code, message: known.message }, known.headers);
}

/**
 * The whole body. One past the limit is read to its end before the 413: a client that is still sending could lose an
 * earlier answer to a connection reset.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
  }
  if (size > BODY_LIMIT_BYTES) {
    throw new ApiError(413, 'body_too_large', `a body may have at most ${BODY_LIMIT_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
}

export function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('the body is not UTF-8');
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('the body is not JSON');
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For `Application/JSON; charset=utf-8` it is `application/json`; empty without a content type. */
export function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
}

/** The path of a request target, undecoded, without query and without the origin of an absolute target. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1);
  return path === '' ? '/' : path;
}

/** Waits until the client leaves at most. True if the client is still connected. */
export async function wait(response: ServerResponse, ms: number): Promise<boolean> {
  if (ms > 0 && !response.destroyed) {
    const gone = new AbortController();
    const leave = () => gone.abort();
    response.once('close', leave);
    await systemClock.sleep(ms, gone.signal);
    response.off('close', leave);
  }
  return !response.destroyed;
}
