import { connect, type Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200 ');
const NOTHING = Buffer.alloc(0);

/** A contender that answers wrongly, or not at all, has no place in the table. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

/**
 * One keep-alive connection, one request at a time. It compares every byte of each body and parses nothing that it
 * need not, so that the load is no slower than what it measures.
 */
export class Client {
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #done: (error?: Error) => void = () => {};
  #head: Buffer = NOTHING;
  #received = -1;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error.message));
    socket.on('close', () => this.#fail('the connection closed'));
  }

  static async to(port: number): Promise<Client> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new Client(socket);
  }

  /** @param done is called with the end of the answer, or with what was wrong. */
  send(exchange: Exchange, done: (error?: Error) => void): void {
    this.#exchange = exchange;
    this.#done = done;
    this.#received = -1;
    this.#socket.write(exchange.request);
  }

  close(): void {
    this.#exchange = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#exchange === undefined) return;
    if (this.#received === -1) this.#takeHead(chunk);
    else this.#takeBody(chunk);
  }

  #takeHead(chunk: Buffer): void {
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(END_OF_HEAD);
    this.#head = end === -1 ? bytes : NOTHING;
    if (end === -1) return;
    if (bytes.compare(OK, 0, OK.length, 0, OK.length) !== 0) {
      this.#fail(bytes.toString('latin1', 0, 400));
    } else {
      this.#received = 0;
      this.#takeBody(bytes.subarray(end + END_OF_HEAD.length));
    }
  }

  #takeBody(chunk: Buffer): void {
    const { answer } = this.#exchange!;
    const to = this.#received + chunk.length;
    if (to > answer.length || chunk.compare(answer, this.#received, to) !== 0) {
      this.#fail('another body');
      return;
    }
    this.#received = to;
    if (to < answer.length) return;
    this.#exchange = undefined;
    this.#done();
  }

  #fail(message: string): void {
    const { name } = this.#exchange ?? {};
    if (name === undefined) return;
    this.#exchange = undefined;
    this.#done(new WrongAnswer(`${name}: ${message}`));
  }
}
