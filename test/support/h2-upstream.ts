import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import http2, { type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { type MessageHead, values } from './http-message.ts';
import { PATIENCE_MS, within } from './raw-client.ts';

const tlsFile = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url));
export const readTls = (name: string): Buffer => readFileSync(tlsFile(name));
export const CA_FILE = tlsFile('ca.pem');
const SESSION_PATH = '/api/identity/v1/session';

/** A request as it came; it is there from its head on. `lines` are the fields without the pseudo ones. */
export interface Http2Request extends MessageHead {
  readonly stream: ServerHttp2Stream;
  readonly session: ServerHttp2Session;
  readonly method: string;
  readonly target: string;
  readonly pseudo: Readonly<Record<string, string>>;
  /** What has come of the body so far. */
  readonly received: () => Buffer;
  /** How the body ended; `broken` where the client reset the stream. Fails when it stays open. */
  readonly ended: Promise<'whole' | 'broken'>;
  header(name: string): string | undefined;
  all(name: string): string[];
}

/** An upstream by script that speaks HTTP/2 over TLS, and HTTP/1.1 with clients that ask for it. */
export class Http2Upstream {
  /** Once a request is whole. */
  onRequest: (request: Http2Request) => unknown = (request) => answer(request, 'ok');
  /** At a request's head; when it is set, `onRequest` is not called. */
  onHead: ((request: Http2Request) => unknown) | undefined;
  onHttp1: (request: IncomingMessage, response: ServerResponse) => unknown = (_, response) =>
    response.end('by HTTP/1.1');
  logins = 0;
  /** The ALPN choice of each TLS connection. */
  readonly protocols: (string | false | null)[] = [];
  readonly requests: Http2Request[] = [];
  readonly sessions: ServerHttp2Session[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Http2SecureServer;

  private constructor(options: http2.SecureServerOptions) {
    this.#server = http2.createSecureServer({
      cert: readTls('server.pem'),
      key: readTls('server.key'),
      allowHTTP1: true,
      maxHeaderListPairs: 4_000,
      strictSingleValueFields: false,
      ...options,
    } as http2.SecureServerOptions);
    this.#server
      .on('secureConnection', (socket) => {
        this.protocols.push(socket.alpnProtocol);
        this.#sockets.add(socket);
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      })
      .on('session', (session) => {
        this.sessions.push(session);
        session.on('error', () => {});
      })
      .on('request', (request, response) => {
        if (request.httpVersionMajor === 1) {
          this.#serveHttp1(request as unknown as IncomingMessage, response as unknown as ServerResponse);
        }
      })
      // With a listener for `request`, Node listens to streams as well, and would answer in our place.
      .removeAllListeners('stream')
      .on('stream', (stream, headers, _flags, raw: string[]) =>
        this.#serve(stream as ServerHttp2Stream, headers, raw),
      );
  }

  static async startedFor(t: Test, options: http2.SecureServerOptions = {}): Promise<Http2Upstream> {
    const upstream = new Http2Upstream(options);
    await new Promise<void>((resolve) => upstream.#server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => upstream.stop());
    return upstream;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  /** For a gateway before it. */
  get env(): Record<string, string> {
    return { BEARERD_TLS_CA_FILE: CA_FILE };
  }

  get last(): Http2Request {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('the upstream got no request');
    return request;
  }

  /** TLS connections that speak HTTP/2. */
  get handshakes(): number {
    return this.protocols.filter((protocol) => protocol === 'h2').length;
  }

  /** The connection under a session. `session.socket` is not it on Node 24, and lets itself not be ended. */
  socketOf({ socket: { remotePort } }: ServerHttp2Session): Socket {
    return [...this.#sockets].find((socket) => socket.remotePort === remotePort)!;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders, raw: readonly string[]): void {
    const chunks: Buffer[] = [];
    const lines: [string, string][] = [];
    const pseudo: Record<string, string> = {};
    for (let i = 0; i < raw.length; i += 2) {
      if (raw[i]!.startsWith(':')) pseudo[raw[i]!] = raw[i + 1]!;
      else lines.push([raw[i]!, raw[i + 1]!]);
    }
    // Node's stream says `end` to a reset without an error code, too; a request has ended when its sender said so.
    let whole = false;
    const push = stream.push.bind(stream);
    stream.push = (chunk, encoding) => {
      if (chunk === null && !stream.closed) whole = true;
      return push(chunk, encoding);
    };
    if (stream.readableEnded || stream.endAfterHeaders) whole = true;
    const ended = new Promise<'whole' | 'broken'>((resolve) => {
      stream
        .on('error', () => {})
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => resolve(whole ? 'whole' : 'broken'))
        .on('close', () => resolve('broken'));
    });
    const head = { startLine: '', head: '', lines };
    const all = (name: string) => values(head, name);
    const request: Http2Request = {
      ...head,
      stream,
      session: stream.session as ServerHttp2Session,
      method: headers[':method']!,
      target: headers[':path']!,
      pseudo,
      received: () => Buffer.concat(chunks),
      get ended() {
        return within(PATIENCE_MS, ended, () => `the stream of ${this.target} stays open`);
      },
      all,
      header: (name) => (all(name).length === 0 ? undefined : all(name).join(' | ')),
    };
    this.requests.push(request);
    if (this.onHead !== undefined) this.onHead(request);
    else ended.then((how) => how === 'whole' && this.onRequest(request));
  }

  #serveHttp1(request: IncomingMessage, response: ServerResponse): void {
    if (request.url !== SESSION_PATH) {
      this.onHttp1(request, response);
      return;
    }
    this.logins++;
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ accessToken: `tok-${this.logins}`, expires_in: 3600 }));
  }
}

/** Answers, with lines in order and repeated. */
export function answer(
  { stream }: Http2Request,
  body: string | Buffer,
  status = 200,
  ...lines: [string, string][]
): void {
  if (stream.destroyed) return;
  stream.respond(fieldsOf(status, lines), { endStream: false });
  stream.end(body);
}

export function fieldsOf(status: number, lines: readonly (readonly [string, string])[]) {
  return [':status', String(status), ...lines.flat()] as unknown as http2.OutgoingHttpHeaders;
}
