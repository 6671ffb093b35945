import { type EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { ByteReader, type HttpMessage, readBody, readHead, values } from './http-message.ts';

/** What hangs takes so long; what a busy machine holds up takes less. */
export const PATIENCE_MS = 60_000;

/** An answer as it came, with the interim ones that came before it. */
export interface RawResponse extends HttpMessage {
  readonly status: number;
  readonly reason: string;
  readonly text: string;
  /** Status codes of the 1xx that came before. */
  readonly interim: readonly number[];
  /** The value of a header that came once; undefined for none, all of them joined by ` | ` for several. */
  header(name: string): string | undefined;
  all(name: string): string[];
}

/** Sends what it is told, byte for byte, and reads answers one by one. */
export class RawClient {
  readonly socket: Socket;
  readonly #reader = new ByteReader();
  /** All bytes that have come, as text, each character a byte. */
  received = '';
  readonly #ended: Promise<'end' | 'reset'>;

  private constructor(socket: Socket, keep: boolean) {
    this.socket = socket;
    let how: 'end' | 'reset' = 'end';
    socket.on('data', (chunk: Buffer) => {
      if (keep) this.received += chunk.toString('latin1');
      this.#reader.push(chunk);
    });
    socket.on('error', () => {
      how = 'reset';
      this.#reader.end();
    });
    socket.on('end', () => this.#reader.end());
    this.#ended = new Promise((resolve) => {
      socket.on('close', () => {
        this.#reader.end();
        resolve(how);
      });
    });
  }

  static async to(
    where: number | string | { port: number; host: string },
    { keep = true, allowHalfOpen = false } = {},
  ): Promise<RawClient> {
    const target =
      typeof where === 'object'
        ? where
        : typeof where === 'string'
          ? { path: where }
          : { port: where, host: '127.0.0.1' };
    const socket = connect({ ...target, allowHalfOpen, noDelay: true });
    const client = new RawClient(socket, keep);
    await happens(socket, 'connect');
    return client;
  }

  /** Over TLS, to a server at `localhost`. */
  static async secure(port: number, options: ConnectionOptions): Promise<RawClient> {
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ...options });
    const client = new RawClient(socket, true);
    await happens(socket, 'secureConnect');
    return client;
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** The next final answer. @param method of the request that it answers: HEAD has no body. */
  async response(method = 'GET'): Promise<RawResponse> {
    return within(
      PATIENCE_MS,
      this.#response(method),
      () => `no whole answer; so far: ${this.received.slice(0, 500)}`,
    );
  }

  async #response(method: string): Promise<RawResponse> {
    const interim: number[] = [];
    for (;;) {
      const head = await readHead(this.#reader);
      if (head === undefined)
        throw new Error(`the connection ended without an answer: ${this.received.slice(0, 500)}`);
      const [, code = '', reason = ''] = /^HTTP\/1\.[01] (\d{3}) ?(.*)$/s.exec(head.startLine) ?? [];
      const status = Number(code);
      if (status >= 100 && status < 200 && status !== 101) {
        interim.push(status);
        continue;
      }
      const bodyless = method === 'HEAD' || status === 101 || status === 204 || status === 304;
      const message: HttpMessage = bodyless
        ? { ...head, body: Buffer.alloc(0), whole: true, framing: 'none', trailers: '' }
        : await readBody(this.#reader, head, 'close');
      const all = (name: string) => values(message, name);
      const header = (name: string) => (all(name).length === 0 ? undefined : all(name).join(' | '));
      return { ...message, status, reason, interim, header, all, text: message.body.toString('latin1') };
    }
  }

  /** So many bytes as they come, for what is not HTTP. */
  async bytes(length: number): Promise<string> {
    return within(
      PATIENCE_MS,
      this.#reader.exactly(length),
      () => `not ${length} bytes: ${this.received}`,
    ).then((b) => b.toString('latin1'));
  }

  /** How the connection ended: `end` in order, `reset` by RST; fails when it stays open. */
  async end(ms = PATIENCE_MS): Promise<'end' | 'reset'> {
    return within(ms, this.#ended, () => 'the connection stays open');
  }

  /** Ends our side only. */
  halfClose(): void {
    this.socket.end();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** One request on a connection of its own. */
export async function ask(port: number, bytes: string | Buffer, method?: string): Promise<RawResponse> {
  const client = await RawClient.to(port);
  const verb = method ?? /^\S+/.exec(bytes.toString('latin1'))?.[0];
  const response = await client.send(bytes).response(verb);
  client.close();
  return response;
}

export async function within<T>(ms: number, promise: Promise<T>, message: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`within ${ms} ms: ${message()}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The next event of this name, with what it brings; fails by an `error` before it, and after a while. */
export async function happens(emitter: EventEmitter, event: string, ms = PATIENCE_MS): Promise<unknown[]> {
  return within(ms, once(emitter, event), () => `no ${event} of ${emitter.constructor.name}`);
}

/**
 * Looks until what it sees is true, or some other value than nothing, and gives that.
 *
 * @param what is wrong where it never is
 */
export async function until<T>(look: () => T | Promise<T>, what: string, ms = PATIENCE_MS): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const seen = look();
    const value = seen instanceof Promise ? await within(ms, seen, () => what) : seen;
    if (value) return value;
    if (performance.now() > end) throw new Error(`within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
