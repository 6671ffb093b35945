import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestEvent } from '../../base/events.ts';
import { remedyOf } from '../../base/failures/problem-words.ts';
import { PROBLEMS, Problem, type ProblemCode, REQUEST_URN } from '../../base/problem.ts';
import { linger, lingerAtEnd } from './linger.ts';
import { elements } from './request-head.ts';

/**
 * What the body of each problem (RFC 9457) begins with, by its detail, made once: of a request nothing but its ID goes
 * into it.
 */
const BEGINNINGS = new Map<string, string>();

/** @param requestId of A-Z, a-z, 0-9 and `._:/+=@-`; undefined where no request has one */
export function bodyOf(problem: Problem, requestId?: string): Buffer {
  const instance = requestId === undefined ? '' : `,"instance":"${REQUEST_URN}${requestId}"`;
  return Buffer.from(`${beginningOf(problem)}${instance}}\n`);
}

function beginningOf({ code, message: detail }: Problem): string {
  const key = `${code} ${detail}`;
  const known = BEGINNINGS.get(key);
  if (known !== undefined) return known;
  const { status, title } = PROBLEMS[code];
  const type = `urn:bearerd:problem:${code}`;
  const beginning = JSON.stringify({ type, title, status, detail, code }).slice(0, -1);
  BEGINNINGS.set(key, beginning);
  return beginning;
}

/** After these nothing sensible can follow on the connection. */
const CLOSES = new Set<ProblemCode>([
  'bad-request',
  'headers-too-large',
  'not-implemented',
  'request-timeout',
  'draining',
]);

/** For `Allow` where no route has a say: TRACE and CONNECT are refused before one is chosen. */
export const USUAL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** What is remembered of a problem. */
export function noteProblem(event: RequestEvent, problem: Problem): void {
  event.code = problem.code;
  event.detail = problem.message;
  event.remedy = remedyOf(problem);
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

/** Answers a request with a problem. Does nothing once an answer has begun. */
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
    noteProblem(event, problem);
    event.status = status;
    event.bytesOut = body.length;
  }
  response.sendDate = true;
  // A body that was announced by `Expect` and not called for may come or not: the connection can't be read further.
  const { expect } = response.req.headers;
  const expects = expect !== undefined && elements(expect).length > 0;
  if (CLOSES.has(problem.code) || expects) response.shouldKeepAlive = false;
  lastUnlessWhole(response);
  // The phrase is said because an upstream's, which could not be written, may still be set.
  response.writeHead(
    status,
    STATUS_CODES[status],
    problemHeaders(problem, { length: body.length, corsOrigin, event }),
  );
  response.end(body);
}

/** What comes behind an answer to half a request may be no body, and would get an answer of its own. */
export function lastUnlessWhole(response: ServerResponse): void {
  const { complete, headers } = response.req;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (complete || !hasBody) return;
  response.shouldKeepAlive = false;
  lingerAtEnd(response.req.socket);
}

/**
 * Answers on a bare connection, where there is no request object (a parse error, CONNECT), and ends it.
 *
 * @param refused is told, unless it can't be answered any more; gives the ID for it, where requests have one
 */
export function answerOnSocket(
  socket: Socket,
  problem: Problem,
  refused: (problem: Problem) => string | undefined,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.on('error', () => {});
  const body = bodyOf(problem, refused(problem));
  const { status } = PROBLEMS[problem.code];
  const headers = [
    'connection',
    'close',
    'date',
    new Date().toUTCString(),
    ...problemHeaders(problem, { length: body.length }),
  ];
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  socket.write(`${head}\r\n`);
  socket.write(body);
  linger(socket);
}

/** What the parser refused (Node's `clientError`), as the problem that says so. */
export function parserProblem(
  error: NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number },
): Problem {
  if (error.code === 'HPE_HEADER_OVERFLOW' || error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return new Problem('headers-too-large');
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request-timeout');
  const line = requestLine(error.rawPacket);
  if (error.code === 'HPE_INVALID_URL' || SPACE_IN_TARGET.test(line)) {
    // That the method is refused is said before anything else is looked at.
    return line.startsWith('TRACE ') ? new Problem('method-refused', { allow: '' }) : new Problem('bad-path');
  }
  return new Problem('bad-request');
}

/** `GET /a b HTTP/1.1`: to the parser a bad version; to the client a bad path. */
const SPACE_IN_TARGET = /^[A-Za-z-]+ \/.*[ \t].* HTTP\/1\.[01]$/;

function requestLine(packet: Buffer | undefined): string {
  if (packet === undefined) return '';
  const end = packet.indexOf('\n');
  return packet.toString('latin1', 0, end === -1 ? packet.length : end).trimEnd();
}
