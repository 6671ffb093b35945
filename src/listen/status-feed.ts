import type { ServerResponse } from 'node:http';
import { Problem } from '../base/problem.ts';

export interface StatusFeedOptions {
  /** Asked anew for each event. */
  readonly status: () => unknown;
  /** Between two events while nothing changes. */
  readonly beatMs?: number;
  /** Who takes nothing for so long is dropped. */
  readonly patienceMs?: number;
}

/** Pages of a few people, and not an API for many. */
const MOST_CLIENTS = 16;
const BEAT_MS = 1_000;
const PATIENCE_MS = 10_000;
/** Changes come in crowds; those within so short a time are told together. */
const GATHER_MS = 200;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no', // nginx would hold events back to send more of them together.
};

/** The status as server-sent events. Without a viewer it does nothing. */
export class StatusFeed {
  readonly #options: Required<StatusFeedOptions>;
  /** And since when each takes what it is sent. */
  readonly #clients = new Map<ServerResponse, number>();
  #beat: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #ended = false;

  constructor({ status, beatMs = BEAT_MS, patienceMs = PATIENCE_MS }: StatusFeedOptions) {
    this.#options = { status, beatMs, patienceMs };
  }

  /** Sends the status now, and from now on; a Problem where it does not. */
  open(response: ServerResponse): Problem | undefined {
    if (this.#ended) return new Problem('draining', { retryAfterS: 1 });
    if (this.#clients.size >= MOST_CLIENTS) return new Problem('overloaded', { retryAfterS: 5 });
    response.shouldKeepAlive = false; // The end of the events is that of the connection.
    response.writeHead(200, HEADERS);
    response.on('error', () => {}).on('close', () => this.#left(response));
    this.#clients.set(response, performance.now());
    this.#beat ??= setInterval(() => this.#send(), this.#options.beatMs).unref();
    response.write(this.#event());
    return undefined;
  }

  /** Something of the status is different. Called for each request. */
  changed(): void {
    if (this.#clients.size === 0 || this.#gathering !== undefined) return;
    this.#gathering = setTimeout(() => this.#send(), GATHER_MS).unref();
  }

  /** Sends the last status and ends; from now on no viewer is accepted. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#send();
    for (const response of this.#clients.keys()) response.end();
  }

  #send(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#clients.size === 0) return;
    const event = this.#event();
    const now = performance.now();
    for (const [response, takingSince] of this.#clients) {
      if (!response.writableNeedDrain) {
        this.#clients.set(response, now);
        response.write(event);
      } else if (now - takingSince > this.#options.patienceMs) {
        response.destroy(); // It has been sent one status that it doesn't take: no more is held for it.
      }
    }
  }

  #event(): string {
    return `event: status\ndata: ${JSON.stringify(this.#options.status())}\n\n`;
  }

  #left(response: ServerResponse): void {
    this.#clients.delete(response);
    if (this.#clients.size > 0) return;
    clearInterval(this.#beat);
    clearTimeout(this.#gathering);
    this.#beat = undefined;
    this.#gathering = undefined;
  }
}
