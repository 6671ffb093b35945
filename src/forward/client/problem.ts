import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestEvent } from '../../base/events.ts';
import { remedyOf } from '../../base/failures/problem-words.ts';
import { USUAL_METHODS } from '../../base/methods.ts';
import { PROBLEMS, type Problem, type ProblemCode, REQUEST_URN } from '../../base/problem.ts';
import { headText } from './head-text.ts';
import { linger, lingerAtEnd } from './linger.ts';
import { elements } from './request-head.ts';

/**
 * The body of each problem (RFC 9457) up to its `instance`, by code and detail. Each is made once: only the ID differs
 * between requests.
 */
const BODY_STARTS = new Map<string, string>();

/** @param requestId of A-Z, a-z, 0-9 and `._:/+=@-`; undefined if there is no request */
export function bodyOf(problem: Problem, requestId?: string): Buffer {
  const instance = requestId === undefined ? '' : `,"instance":"${REQUEST_URN}${requestId}"`;
  return Buffer.from(`${bodyStart(problem)}${instance}}\n`);
}

function bodyStart({ code, message: detail }: Problem): string {
  const key = `${code} ${detail}`;
  const known = BODY_STARTS.get(key);
  if (known !== undefined) return known;
  const { status, title } = PROBLEMS[code];
  const type = `urn:bearerd:problem:${code}`;
  const start = JSON.stringify({ type, title, status, detail, code }).slice(0, -1);
  BODY_STARTS.set(key, start);
  return start;
}

/** Problems after which the connection can't carry another request. */
const CLOSING = new Set<ProblemCode>([
  'bad-request',
  'headers-too-large',
  'not-implemented',
  'request-timeout',
  'draining',
]);

/** Records a problem in the event of its request. */
export function recordProblem(event: RequestEvent, problem: Problem): void {
  event.code = problem.code;
  event.detail = problem.message;
  event.remedy = remedyOf(problem);
  event.timeLimit = problem.limit;
}

interface AnswerParts {
  /** Bytes of the body. */
  readonly length: number;
  readonly corsOrigin?: string | undefined;
  readonly event?: RequestEvent | undefined;
}

function problemHeaders(problem: Problem, { length, corsOrigin, event }: AnswerParts): string[] {
  const headers = [
    'content-type',
    'application/problem+json',
    'content-length',
    String(length),
    'cache-control',
    'no-store',
    'proxy-status',
    `bearerd; error=${problem.proxyStatus}`,
  ];
  if (problem.retryAfterS !== undefined) headers.push('retry-after', String(problem.retryAfterS));
  if (problem.code === 'method-refused') headers.push('allow', problem.allow ?? USUAL_METHODS);
  if (problem.code === 'caller-key-required') headers.push('proxy-authenticate', 'Bearer realm="bearerd"');
  if (event?.requestIdHeader !== undefined) headers.push(event.requestIdHeader, event.requestId);
  if (corsOrigin !== undefined) headers.push('access-control-allow-origin', corsOrigin, 'vary', 'Origin');
  return headers;
}

/** Answers a request with a problem. Does nothing if an answer has begun, or the connection has ended. */
export function answerProblem(
  response: ServerResponse,
  problem: Problem,
  corsOrigin?: string | undefined,
  event?: RequestEvent,
): void {
  if (response.headersSent || response.destroyed || response.socket?.writableEnded === true) return;
  const body = bodyOf(problem, event?.requestId);
  const { status } = PROBLEMS[problem.code];
  if (event !== undefined) {
    recordProblem(event, problem);
    event.status = status;
    event.bytesOut = body.length;
  }
  response.sendDate = true;
  // The client may or may not send a body that it has announced by `Expect`: so the connection can't be read further.
  const { expect } = response.req.headers;
  const expects = expect !== undefined && elements(expect).length > 0;
  if (CLOSING.has(problem.code) || expects) response.shouldKeepAlive = false;
  closeUnlessComplete(response);
  // Names the reason phrase, since that of the upstream may still be set after a failed `writeHead`.
  response.writeHead(
    status,
    STATUS_CODES[status],
    problemHeaders(problem, { length: body.length, corsOrigin, event }),
  );
  response.end(body);
}

/** Closes the connection after this answer if the request is incomplete: its rest would be read as the next request. */
export function closeUnlessComplete(response: ServerResponse): void {
  const { complete, headers } = response.req;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (complete || !hasBody) return;
  response.shouldKeepAlive = false;
  lingerAtEnd(response.req.socket);
}

/**
 * Answers on a connection without a request object (a parse error, CONNECT), and ends the connection.
 *
 * @param refused called unless the client has left; gives the event of the answer, if answers have one
 */
export function answerOnSocket(
  socket: Socket,
  problem: Problem,
  refused: (problem: Problem) => RequestEvent | undefined,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.on('error', () => {});
  const event = refused(problem);
  const body = bodyOf(problem, event?.requestId);
  const { status } = PROBLEMS[problem.code];
  const headers = [
    'connection',
    'close',
    'date',
    new Date().toUTCString(),
    ...problemHeaders(problem, { length: body.length, event }),
  ];
  socket.write(headText(`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, headers));
  socket.write(body);
  linger(socket);
}
