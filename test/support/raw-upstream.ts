import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  ByteReader,
  type HttpMessage,
  type MessageHead,
  readBody,
  readHead,
  values,
} from './http-message.ts';
import type { Lifetime } from './lifetime.ts';
import { PATIENCE_MS, within } from './raw-client.ts';

export const SESSION_PATH = '/api/identity/v1/session';

/** A request as it came; it is there from its head on. */
export interface UpstreamRequest extends MessageHead {
  readonly connection: UpstreamConnection;
  readonly method: string;
  readonly target: string;
  /** All of it, or as much as came before the connection ended; fails when neither comes. */
  readonly message: Promise<HttpMessage>;
  header(name: string): string | undefined;
  all(name: string): string[];
}

export class UpstreamConnection {
  readonly socket: Socket;
  readonly requests: UpstreamRequest[] = [];
  readonly #closed: Promise<void>;
  isClosed = false;
  bytesReceived = 0;
  /** What came, as text, each character a byte; up to 1 MiB of it. */
  received = '';

  constructor(socket: Socket) {
    this.socket = socket;
    this.#closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  /** Once it is; fails when it stays open. */
  get closed(): Promise<void> {
    return within(PATIENCE_MS, this.#closed, () => 'the connection to the upstream stays open');
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** FIN. */
  end(): void {
    this.socket.end();
  }

  /** RST. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

type Bytes = string | Buffer;

/**
 * An upstream by script over plain TCP. It logs what comes, byte for byte, and hands out tokens `tok-1`, `tok-2`…
 * at the session endpoint. The scripts may be changed at any time.
 */
export class RawUpstream {
  /** At a request's head; bytes that it gives are sent at once. When it is set, `onRequest` is not called. */
  onHead: ((request: UpstreamRequest) => unknown) | undefined;
  /** Once a request is whole; bytes that it gives are sent. */
  onRequest: (request: UpstreamRequest, message: HttpMessage) => unknown = () => ok('ok');
  onConnection: ((connection: UpstreamConnection) => void) | undefined;
  /** The session endpoint's answer to the nth login. */
  onLogin: (login: number) => Bytes | undefined | Promise<Bytes> = (login) => grant(`tok-${login}`);
  logins = 0;
  /** All but logins. */
  readonly requests: UpstreamRequest[] = [];
  /** But for those of logins. */
  readonly connections: UpstreamConnection[] = [];
  readonly #open = new Map<Socket, UpstreamConnection>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  static async startedFor(t: Lifetime): Promise<RawUpstream> {
    const upstream = new RawUpstream();
    await new Promise<void>((resolve) => upstream.#server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => upstream.stop());
    return upstream;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections that are open at present. */
  get open(): number {
    return this.#open.size;
  }

  /** The last request; fails when there is none. */
  get last(): UpstreamRequest {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('the upstream got no request');
    return request;
  }

  /** From a clean slate: default scripts, nothing logged. */
  reset(): void {
    this.onHead = undefined;
    this.onConnection = undefined;
    this.onRequest = () => ok('ok');
    this.onLogin = (login) => grant(`tok-${login}`);
    this.requests.length = 0;
    for (const connection of this.#open.values()) connection.received = '';
    this.connections.length = 0;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #accept(socket: Socket): void {
    const connection = new UpstreamConnection(socket);
    const reader = new ByteReader();
    this.#open.set(socket, connection);
    this.connections.push(connection);
    socket
      .on('data', (chunk: Buffer) => {
        connection.bytesReceived += chunk.length;
        if (connection.received.length < 1 << 20) connection.received += chunk.toString('latin1');
        reader.push(chunk);
      })
      .on('error', () => {})
      .on('end', () => reader.end())
      .on('close', () => {
        this.#open.delete(socket);
        reader.end();
      });
    this.onConnection?.(connection);
    void this.#serve(connection, reader);
  }

  async #serve(connection: UpstreamConnection, reader: ByteReader): Promise<void> {
    for (;;) {
      const head = await readHead(reader);
      if (head === undefined) return;
      const [method = '', target = ''] = head.startLine.split(' ');
      const message = readBody(reader, head, 'none');
      if (target.endsWith(SESSION_PATH) && method === 'POST') {
        await message;
        const at = this.connections.indexOf(connection);
        if (at !== -1) this.connections.splice(at, 1);
        this.logins++;
        const answer = await this.onLogin(this.logins);
        if (answer !== undefined) connection.send(answer);
        if (answer?.includes('\r\nconnection: close\r\n') === true) connection.end();
        continue;
      }
      const all = (name: string) => values(head, name);
      const header = (name: string) => (all(name).length === 0 ? undefined : all(name).join(' | '));
      const request = {
        ...head,
        connection,
        method,
        target,
        get message() {
          return within(PATIENCE_MS, message, () => `${target} stays open, and is not whole`);
        },
        all,
        header,
      };
      this.requests.push(request);
      connection.requests.push(request);
      await this.#answer(request, message);
    }
  }

  async #answer(request: UpstreamRequest, whole: Promise<HttpMessage>): Promise<void> {
    const { connection } = request;
    if (this.onHead !== undefined) {
      const early = this.onHead(request);
      if (isBytes(early)) connection.send(early);
      await whole;
      return;
    }
    const message = await whole;
    if (!message.whole) return;
    const answer = await this.onRequest(request, message);
    if (isBytes(answer) && !connection.socket.destroyed) connection.send(answer);
  }
}

function isBytes(answer: unknown): answer is Bytes {
  return typeof answer === 'string' || Buffer.isBuffer(answer);
}

/** A response with a length. */
export function ok(body: string | Buffer = '', ...lines: string[]): Buffer {
  const bytes = Buffer.from(body as string, 'latin1');
  return Buffer.concat([
    Buffer.from(head('200 OK', `content-length: ${bytes.length}`, ...lines), 'latin1'),
    bytes,
  ]);
}

/** A response's head, each character a byte. */
export function head(status: string, ...lines: string[]): string {
  return `HTTP/1.1 ${status}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}

/** A login's answer. */
export function grant(token: string, lifetimeS = 3600): Buffer {
  return ok(JSON.stringify({ accessToken: token, expires_in: lifetimeS }), 'content-type: application/json');
}
