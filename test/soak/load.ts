import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { type Asked, type Choice, choose, verdictOn } from './asked.ts';

/** A request that was not served as it should be. */
export interface Failure {
  /** A problem code of bearerd's, or `broken`, `wrong`, `silent`, `passed 401`… */
  readonly what: string;
  readonly kind: Choice['kind'];
  readonly beganMs: number;
  readonly endedMs: number;
}

/** A longer wait is a fault. */
const PATIENCE_MS = 15_000;
const TICK_MS = 20;
const LONGEST_DEBT_MS = 100;

/** Sends requests at a steady rate, without waiting for earlier ones: users don't wait for each other. */
export class Load {
  readonly failures: Failure[] = [];
  readonly #port: number;
  readonly #rate: number;
  readonly #random: () => number;
  readonly #agent = new http.Agent({ keepAlive: true, maxFreeSockets: 64 });
  #timer: NodeJS.Timeout | undefined;
  sent = 0;
  underWay = 0;
  served = 0;
  /** Durations of requests in this period that got their answer in one piece. */
  readonly tookMs: number[] = [];

  constructor(port: number, rate: number, random: () => number) {
    this.#port = port;
    this.#rate = rate;
    this.#random = random;
  }

  begin(): void {
    let due = 0;
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      // After a delay the load catches up only a little: a burst would be a fault of its own.
      due += (Math.min(now - last, LONGEST_DEBT_MS) / 1_000) * this.#rate;
      last = now;
      for (; due >= 1; due--) this.#send();
    }, TICK_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(): void {
    const choice = choose(`r-${++this.sent}`, this.#random);
    const { kind, body } = choice;
    const beganMs = Date.now();
    this.underWay++;
    const sending = http.request({
      host: '127.0.0.1',
      port: this.#port,
      agent: kind === 'upgrade' ? false : this.#agent,
      method: choice.method,
      path: choice.path,
      headers: choice.headers,
    });
    let over = false;
    const done = (what: string | undefined) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      this.underWay--;
      const endedMs = Date.now();
      if (what !== undefined) {
        this.failures.push({ what, kind, beganMs, endedMs });
        return;
      }
      this.served++;
      if (kind === 'GET' || kind === 'POST') this.tookMs.push(endedMs - beganMs);
    };
    const timer = setTimeout(() => {
      done('silent');
      sending.destroy();
    }, PATIENCE_MS);
    follow(sending, choice, done);
    sending.end(body);
  }
}

type Done = (what: string | undefined) => void;

function follow(sending: ClientRequest, choice: Choice, done: Done): void {
  sending.on('error', () => done('cut off'));
  sending.on('response', (response: IncomingMessage) => {
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => pieces.push(piece));
    response.on('error', () => done('broken'));
    response.on('end', () => {
      const asked: Asked = {
        ...choice,
        status: response.statusCode!,
        text: Buffer.concat(pieces).toString(),
      };
      done(verdictOn(asked));
    });
  });
  sending.on('upgrade', (_response, socket, head) => {
    const said = choice.id.padEnd(256);
    let heard = head.toString('latin1');
    socket.on('data', (piece: Buffer) => {
      heard += piece.toString('latin1');
      if (heard.length < said.length) return;
      done(heard === said ? undefined : 'wrong');
      socket.destroy();
    });
    socket.on('error', () => done('broken')).on('close', () => done('broken'));
    socket.write(said);
  });
}
