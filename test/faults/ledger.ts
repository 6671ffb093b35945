import { createHash } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { readTls } from '../support/h2-upstream.ts';
import type { Lifetime } from '../support/lifetime.ts';

export type Wire = 'TCP' | 'TLS' | 'HTTP/2';

/** What the upstream has of one request. */
export interface Entry {
  readonly number: number;
  /** The client's name for it. */
  readonly id: string;
  readonly method: string;
  readonly verdict: string;
  readonly request: IncomingMessage;
  /** Of its body, as it comes. */
  bytes: number;
  /** The whole of it came; else its sender broke off. */
  whole: boolean;
  digest: string;
  /** What it was answered with; 0 where it was left without. */
  status: number;
  /** Its connection, or stream, is gone. */
  closed: boolean;
}

export const BODY: Buffer = Buffer.from(
  Array.from({ length: 10_000 }, (_, n) => `${n}`.padStart(9)).join('\n'),
);
const EVENTS = 20;
const EVENT = `data: ${'x'.repeat(1_000)}\n\n`;
export const ALL_EVENTS: Buffer = Buffer.from(EVENT.repeat(EVENTS));

type Step = 'head' | 'body' | 'whole';
export type Answer = (entry: Entry, response: ServerResponse) => void;

/**
 * A recording upstream: it numbers what it received, so that whatever happens on the way, it can be said what
 * arrived, how often, and with which credential. The same for each wire.
 */
export class Ledger {
  readonly entries: Entry[] = [];
  /** In place of the usual answer. */
  answer: Answer | undefined;
  /** Answers at the head already, with the body still to come. */
  early: Answer | undefined;
  /** Hears of how far a request has come, before it is answered. */
  reached: ((step: Step, entry: Entry) => void) | undefined;
  readonly #judge: (lines: readonly string[]) => string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(wire: Wire, judge: (lines: readonly string[]) => string, tls: object) {
    this.#judge = judge;
    this.#server = serverOf(wire, tls);
    this.#server
      .on('connection', (socket: Socket) => {
        this.#sockets.add(socket);
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      })
      .on('sessionError', () => {})
      .on('tlsClientError', () => {})
      .on('request', (request, response) => this.#take(request, response))
      .on('upgrade', (request, socket) => this.#upgrade(request, socket));
  }

  static async startedFor(
    t: Lifetime,
    wire: Wire,
    judge: (lines: readonly string[]) => string,
    tls: object = {},
  ): Promise<Ledger> {
    const ledger = new Ledger(wire, judge, tls);
    await new Promise<void>((resolve) => ledger.#server.listen(0, '127.0.0.1', 4_096, resolve));
    t.teardown(() => ledger.stop());
    return ledger;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get open(): number {
    return this.#sockets.size;
  }

  of(id: string): Entry[] {
    return this.entries.filter((entry) => entry.id === id);
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #enter(request: IncomingMessage): Entry {
    const entry: Entry = {
      number: this.entries.length + 1,
      id: String(request.headers['x-id']),
      method: request.method!,
      verdict: this.#judge(linesOf(request, 'authorization')),
      request,
      bytes: 0,
      whole: false,
      digest: '',
      status: 0,
      closed: false,
    };
    this.entries.push(entry);
    this.reached?.('head', entry);
    return entry;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const entry = this.#enter(request);
    const hash = createHash('sha256');
    request.on('error', () => {}).on('aborted', () => {});
    response
      .on('error', () => {})
      .on('close', () => {
        entry.closed = true;
      });
    request.on('data', (piece: Buffer) => {
      hash.update(piece);
      if (entry.bytes === 0) this.reached?.('body', entry);
      entry.bytes += piece.length;
    });
    request.on('end', () => {
      // HTTP/2 says `end` to a stream that was reset, too.
      if ((request as { aborted?: boolean }).aborted) return;
      entry.whole = true;
      entry.digest = hash.digest('hex');
      this.reached?.('whole', entry);
      if (this.early === undefined && !response.destroyed) this.#answer(entry, response);
    });
    this.early?.(entry, response);
  }

  #answer(entry: Entry, response: ServerResponse): void {
    const path = entry.request.url!;
    if (entry.verdict !== 'good') respond(entry, response, 401, 'the token is worth nothing');
    else if (this.answer !== undefined) this.answer(entry, response);
    else if (path.startsWith('/events')) void tellEvents(entry, response);
    else
      respond(entry, response, 200, BODY, path.includes('chunked') ? {} : { 'content-length': BODY.length });
  }

  /** An echo, once it has been let in. */
  #upgrade(request: IncomingMessage, socket: Socket): void {
    const entry = this.#enter(request);
    socket
      .on('error', () => {})
      .on('close', () => {
        entry.closed = true;
      });
    entry.whole = true;
    this.reached?.('whole', entry);
    if (socket.destroyed) return;
    entry.status = entry.verdict === 'good' ? 101 : 401;
    if (entry.status === 401) {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      return;
    }
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n');
    socket.on('data', (piece: Buffer) => socket.write(piece)).on('end', () => socket.end());
  }
}

function serverOf(wire: Wire, tls: object): Server {
  const options = { cert: readTls('server.pem'), key: readTls('server.key'), ...tls };
  if (wire === 'TCP') return http.createServer();
  if (wire === 'TLS') return https.createServer(options);
  // HTTP/1.1, too, for upgrades.
  return http2.createSecureServer({ ...options, allowHTTP1: true }) as unknown as Server;
}

function linesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
}

export function respond(
  entry: Entry,
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: http.OutgoingHttpHeaders = {},
): void {
  entry.status = status;
  response.writeHead(status, headers);
  response.end(body);
}

async function tellEvents(entry: Entry, response: ServerResponse): Promise<void> {
  entry.status = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < EVENTS && !response.destroyed; n++) {
    response.write(EVENT);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  if (!response.destroyed) response.end();
}
