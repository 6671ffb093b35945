import type { Socket } from 'node:net';
import { type Plan, planFor, WRONG_BODY } from './answers.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** A GET has no body; it is not worth the search for a length. */
const G = 'G'.charCodeAt(0);
const NOTHING = Buffer.alloc(0);
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;

/**
 * One connection to the upstream. It reads no more of HTTP than the contenders send, since what it costs would be
 * taken from them on a small machine: one request at a time, bodies by Content-Length.
 */
export class Conversation {
  readonly #socket: Socket;
  readonly #onRequest: () => void;
  /** A head that came in pieces. */
  #started: Buffer = NOTHING;
  #plan: Plan | undefined;
  #length = 0;
  #received = 0;
  #wrong = false;
  #kept: Buffer[] = [];

  constructor(socket: Socket, onRequest: () => void) {
    this.#socket = socket;
    this.#onRequest = onRequest;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', () => {});
  }

  #take(chunk: Buffer): void {
    if (this.#plan === undefined) this.#takeHead(chunk);
    else this.#takeBody(chunk);
  }

  #takeHead(chunk: Buffer): void {
    const bytes = this.#started.length === 0 ? chunk : Buffer.concat([this.#started, chunk]);
    const end = bytes.indexOf(END_OF_HEAD);
    this.#started = end === -1 ? bytes : NOTHING;
    if (end === -1) return;
    const head = bytes.subarray(0, end + END_OF_HEAD.length);
    this.#plan = planFor(head);
    this.#length = bytes[0] === G ? 0 : Number(LENGTH.exec(head.toString('latin1'))?.[1] ?? 0);
    this.#received = 0;
    this.#takeBody(bytes.subarray(head.length));
  }

  #takeBody(chunk: Buffer): void {
    const { expected, keepsBody } = this.#plan!;
    const from = this.#received;
    this.#received += chunk.length;
    if (expected !== undefined && !chunk.equals(expected.subarray(from, this.#received))) this.#wrong = true;
    if (keepsBody) this.#kept.push(chunk);
    if (this.#received >= this.#length) this.#answer();
  }

  #answer(): void {
    const { expected, answer } = this.#plan!;
    const wrong =
      this.#wrong ||
      this.#received !== this.#length ||
      (expected !== undefined && expected.length !== this.#length);
    this.#socket.write(wrong ? WRONG_BODY : answer(Buffer.concat(this.#kept)));
    this.#plan = undefined;
    this.#wrong = false;
    this.#kept = [];
    this.#onRequest();
  }
}
