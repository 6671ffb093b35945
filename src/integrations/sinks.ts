import type { Clock } from '../base/clock.ts';
import type { Event, Observe } from '../base/events.ts';
import type { SinkConfig } from '../config/config.ts';
import { retriesPath, sinkLabel } from '../config/values/sink-names.ts';
import { createEnvoySdsSink, createFileSink } from './files/file-sink.ts';
import { createHaproxySink } from './haproxy/haproxy-sink.ts';
import type { Present, PresentOf, Sink } from './sink.ts';

/** After a failure. */
const TRY_AGAIN_MS = 1_000;
/**
 * How long before its end a token is taken away, since a reader of the place may send it a moment later: 5 % of its life, and
 * at most this. Renewal leaves a fifth of the life, so that the next token is there before.
 */
const LEAD_SHARE = 0.05;
const MAX_LEAD_MS = 1_000;

export interface SinksOptions {
  readonly sinks: readonly SinkConfig[];
  readonly present: PresentOf;
  /** Opens a socket for what failed on the fast lane, if it isn't open. Rejects where that can't be. */
  readonly listenForRetries: (path: string) => Promise<void>;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Keeps the configured places as the token sources are. Whatever becomes of a place, nothing here rejects. */
export class Sinks {
  readonly #options: SinksOptions;
  readonly #ended = new AbortController();
  readonly #loops: readonly Promise<void>[];
  #wake = new AbortController();

  constructor(options: SinksOptions) {
    this.#options = options;
    this.#loops = options.sinks.map((config) => this.#keep(sinkLabel(config), createSink(config, options)));
  }

  /** A token has come or gone: look at once. */
  readonly observe: Observe = ({ type }: Event) => {
    if (type !== 'login-succeeded' && type !== 'token-rejected' && type !== 'token-expired') return;
    this.look();
  };

  /** Empties all of them. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.look();
    await Promise.all(this.#loops);
  }

  /** Something may have changed. */
  look(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #keep(sink: string, place: Sink): Promise<void> {
    const { present, clock } = this.#options;
    let failing = false;
    while (!this.#ended.signal.aborted) {
      const { signal } = this.#wake; // Taken first: what happens while it writes is looked at next.
      const begunMonoMs = clock.monoMs();
      let endsInMs = place.lookMs;
      failing = await this.#settle(sink, place, failing, (name) => {
        const found = present(name);
        const leftMs = found === undefined ? 0 : found.usableMs - leadMs(found);
        if (leftMs <= 0) return undefined;
        endsInMs = Math.min(endsInMs, leftMs);
        return found;
      });
      if (failing) endsInMs = Math.min(endsInMs, TRY_AGAIN_MS);
      // A slow disk must not let a token stay beyond its end.
      await clock.sleep(Math.max(0, begunMonoMs + endsInMs - clock.monoMs()), signal);
    }
    await this.#settle(sink, place, failing, () => undefined);
  }

  /** Gives whether it failed. */
  async #settle(sink: string, place: Sink, failing: boolean, present: PresentOf): Promise<boolean> {
    const { observe } = this.#options;
    try {
      if (await place.settle(present)) observe({ type: 'sink-written', sink });
      return false;
    } catch (error) {
      const { code = 'UNKNOWN' } = error as NodeJS.ErrnoException;
      observe({ type: 'sink-failed', sink, code, again: failing });
      return true;
    }
  }
}

function leadMs({ lifetimeMs }: Present): number {
  return Math.min(lifetimeMs * LEAD_SHARE, MAX_LEAD_MS);
}

function createSink(config: SinkConfig, { listenForRetries }: SinksOptions): Sink {
  switch (config.kind) {
    case 'haproxy':
      return createHaproxySink(config, () => listenForRetries(retriesPath(config)));
    case 'envoySds':
      return createEnvoySdsSink(config);
    case 'file':
      return createFileSink(config);
  }
}
