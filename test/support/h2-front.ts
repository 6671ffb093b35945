import { readFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import http2, { type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

const tlsFile = (name: string) => readFileSync(fileURLToPath(new URL(`tls/${name}`, import.meta.url)));
const OF_THE_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'proxy-connection', 'upgrade']);

/**
 * HTTP/2 before an upstream that speaks HTTP/1.1 (a `RawUpstream`), so that a test's script for the one serves for
 * the other. It translates and does nothing else. Gives its URL; the authority that it serves is its own.
 */
export async function http2Front(
  t: Test,
  port: number,
  { allowHTTP1 } = { allowHTTP1: true },
): Promise<string> {
  const server = http2.createSecureServer({
    cert: tlsFile('server.pem'),
    key: tlsFile('server.key'),
    maxHeaderListPairs: 10_000,
    allowHTTP1, // For logins and upgrades.
    strictSingleValueFields: false,
  } as http2.SecureServerOptions);
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {}).on('close', () => sessions.delete(session));
  });
  server.on('request', (request, response) => logIn(port, request, response));
  server.removeAllListeners('stream');
  server.on('stream', (stream, _headers, _flags, raw: string[]) =>
    translate(port, stream as ServerHttp2Stream, raw),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const session of sessions) session.destroy();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

function logIn(port: number, request: http2.Http2ServerRequest, response: http2.Http2ServerResponse): void {
  const up = http.request({
    port,
    method: request.method,
    path: request.url,
    headers: request.headers,
    agent: false,
  });
  up.on('response', (answer) => {
    response.writeHead(answer.statusCode!, answer.headers as http.OutgoingHttpHeaders);
    answer.pipe(response);
  });
  up.on('error', () => request.socket.destroy());
  request.pipe(up);
}

function translate(port: number, stream: ServerHttp2Stream, raw: readonly string[]): void {
  const pseudo = new Map<string, string>();
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.startsWith(':')) pseudo.set(raw[i]!, raw[i + 1]!);
    else headers.push(raw[i]!, raw[i + 1]!);
  }
  headers.push('host', pseudo.get(':authority')!, 'connection', 'keep-alive');
  const hasLength = headers.some((name, i) => i % 2 === 0 && name === 'content-length');
  const hasBody = !stream.endAfterHeaders;
  if (hasBody && !hasLength) headers.push('transfer-encoding', 'chunked');
  const method = pseudo.get(':method')!;
  const up = http.request({
    port,
    method,
    path: pseudo.get(':path')!,
    headers,
    setHost: false,
    agent: false,
    joinDuplicateHeaders: false,
    maxHeaderSize: 1 << 20,
  });
  up.maxHeadersCount = 0;
  up.on('response', (answer) => passOn(stream, answer));
  up.on('error', () => stream.destroy(new Error('the upstream broke off')));
  stream.on('error', () => {});
  stream.on('close', () => up.destroy());
  stream.on('aborted', () => up.destroy());
  if (hasBody) stream.pipe(up);
  else up.end();
}

function passOn(stream: ServerHttp2Stream, answer: IncomingMessage): void {
  if (stream.destroyed) return;
  const lines = [':status', String(answer.statusCode)];
  const raw = answer.rawHeaders;
  const named = (answer.headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (!OF_THE_HOP.has(name) && !named.includes(name)) lines.push(name, raw[i + 1]!);
  }
  try {
    stream.respond(lines as unknown as http2.OutgoingHttpHeaders, { sendDate: false } as object);
  } catch {
    stream.destroy(new Error('nothing that HTTP/2 could say'));
    return;
  }
  answer.on('error', () => stream.destroy(new Error('the upstream broke off')));
  answer.pipe(stream);
}
