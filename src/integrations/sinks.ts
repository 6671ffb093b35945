import type { Clock } from '../base/clock.ts';
import type { Event, Observe } from '../base/events.ts';
import { retriesPath, type SinkConfig, sinkLabel } from '../config/sections/sink-config.ts';
import { createEnvoySdsSink, createFileSink } from './files/file-sink.ts';
import { createHaproxySink } from './haproxy/haproxy-sink.ts';
import type { PresentCredential, PresentOf, Sink } from './sink.ts';

/** A file system that hangs must not keep the process: the longest wait for the last change of a sink. */
const CLOSE_LIMIT_MS = 2_000;
/** The pause after a failure. */
const TRY_AGAIN_MS = 1_000;
/**
 * How long before its end a token is removed, because a reader of the place may send it a moment later: 5 % of its
 * life, but no more than this. A renewal comes when at least a fifth of the life is left, so the next token is there
 * before.
 */
const LEAD_SHARE = 0.05;
const MAX_LEAD_MS = 1_000;

interface SinksOptions {
  readonly sinks: readonly SinkConfig[];
  readonly present: PresentOf;
  /** Opens the socket for requests that failed on the fast lane, unless it is open. Rejects if that fails. */
  readonly listenForRetries: (path: string) => Promise<void>;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Keeps the configured sinks up to date. Never rejects, whatever happens to a sink. */
export class Sinks {
  readonly #options: SinksOptions;
  readonly #ended = new AbortController();
  readonly #loops: readonly (readonly [sink: string, loop: Promise<void>])[];
  #wake = new AbortController();

  constructor(options: SinksOptions) {
    this.#options = options;
    this.#loops = options.sinks.map((config) => {
      const sink = sinkLabel(config);
      return [sink, this.#keep(sink, createSink(config, options))];
    });
  }

  /** After a change of a token, checks the sinks at once. */
  readonly observe: Observe = ({ type }: Event) => {
    if (type !== 'login-succeeded' && type !== 'token-rejected' && type !== 'token-expired') return;
    this.check();
  };

  /** Removes the credentials from all sinks, and gives up on those that don't answer. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.check();
    await Promise.all(this.#loops.map(([sink, loop]) => this.#end(sink, loop)));
  }

  async #end(sink: string, loop: Promise<void>): Promise<void> {
    const { clock, observe } = this.#options;
    const over = new AbortController();
    await Promise.race([loop.then(() => over.abort()), clock.sleep(CLOSE_LIMIT_MS, over.signal)]);
    if (!over.signal.aborted) observe({ type: 'sink-failed', sink, code: 'ETIMEDOUT', again: false });
  }

  /** Checks all sinks now. */
  check(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #keep(sink: string, place: Sink): Promise<void> {
    const { present, clock } = this.#options;
    let failing = false;
    while (!this.#ended.signal.aborted) {
      const { signal } = this.#wake; // Read first: a change while the sink is written causes another check.
      const begunMonoMs = clock.monoMs();
      let endsInMs = place.checkMs;
      failing = await this.#update(sink, place, failing, (name) => {
        const found = present(name);
        const leftMs = found === undefined ? 0 : found.usableMs - leadMs(found);
        if (leftMs <= 0) return undefined;
        endsInMs = Math.min(endsInMs, leftMs);
        return found;
      });
      if (failing) endsInMs = Math.min(endsInMs, TRY_AGAIN_MS);
      // Counted from the start of the check, so that a slow disk does not keep a token beyond its end.
      await clock.sleep(Math.max(0, begunMonoMs + endsInMs - clock.monoMs()), signal);
    }
    await this.#update(sink, place, failing, () => undefined);
  }

  /** @returns whether it failed */
  async #update(sink: string, place: Sink, failing: boolean, present: PresentOf): Promise<boolean> {
    const { observe } = this.#options;
    try {
      if (await place.update(present)) observe({ type: 'sink-written', sink });
      return false;
    } catch (error) {
      const { code = 'UNKNOWN' } = error as NodeJS.ErrnoException;
      observe({ type: 'sink-failed', sink, code, again: failing });
      return true;
    }
  }
}

function leadMs({ lifetimeMs }: PresentCredential): number {
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
