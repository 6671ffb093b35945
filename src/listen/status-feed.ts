import type { ServerResponse } from 'node:http';
import { Problem } from '../base/problem.ts';

interface StatusFeedOptions {
  /** Called anew for each event. */
  readonly status: () => unknown;
  /** Time between two events while nothing changes. */
  readonly intervalMs?: number;
  /** A viewer that reads nothing for so long is disconnected. */
  readonly stallLimitMs?: number;
}

/** The feed is for the page of a few people, not an API for many. */
const MAX_CLIENTS = 16;
const INTERVAL_MS = 1_000;
const STALL_LIMIT_MS = 10_000;
/** Changes within this time become one event. */
const GATHER_MS = 200;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no', // nginx would hold events back, to send several together.
};

/** Sends the status as server-sent events. Without a viewer it does nothing. */
export class StatusFeed {
  readonly #options: Required<StatusFeedOptions>;
  /** The viewers, and when each was last able to take an event. */
  readonly #clients = new Map<ServerResponse, number>();
  #interval: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #ended = false;

  constructor({ status, intervalMs = INTERVAL_MS, stallLimitMs = STALL_LIMIT_MS }: StatusFeedOptions) {
    this.#options = { status, intervalMs, stallLimitMs };
  }

  /** Sends the status now and after each change. @returns a Problem if the viewer is refused */
  open(response: ServerResponse): Problem | undefined {
    if (this.#ended) return new Problem('draining', { retryAfterS: 1 });
    if (this.#clients.size >= MAX_CLIENTS) return new Problem('overloaded', { retryAfterS: 5 });
    response.shouldKeepAlive = false; // The connection ends with the events.
    response.writeHead(200, HEADERS);
    response.on('error', () => {}).on('close', () => this.#left(response));
    this.#clients.set(response, performance.now());
    this.#interval ??= setInterval(() => this.#send(), this.#options.intervalMs).unref();
    response.write(this.#event());
    return undefined;
  }

  /** Something in the status has changed. Called for each request. */
  changed(): void {
    if (this.#clients.size === 0 || this.#gathering !== undefined) return;
    this.#gathering = setTimeout(() => this.#send(), GATHER_MS).unref();
  }

  /** Sends the last status, and ends; later viewers are refused. */
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
      } else if (now - takingSince > this.#options.stallLimitMs) {
        response.destroy(); // It hasn't read the last event, so it gets no more.
      }
    }
  }

  #event(): string {
    return `event: status\ndata: ${JSON.stringify(this.#options.status())}\n\n`;
  }

  #left(response: ServerResponse): void {
    this.#clients.delete(response);
    if (this.#clients.size > 0) return;
    clearInterval(this.#interval);
    clearTimeout(this.#gathering);
    this.#interval = undefined;
    this.#gathering = undefined;
  }
}
