import type { Clock } from '../base/clock.ts';
import type { Observe } from '../base/events.ts';
import type { Watchdog } from '../forward/watchdog.ts';
import type { AdminListener } from '../listen/admin.ts';
import type { ProxyListener } from '../listen/proxy.ts';
import type { Sources } from './sources.ts';

/** What is stopped, and in which order that has to be. */
export interface Stoppable {
  readonly clock: Clock;
  readonly observe: Observe;
  readonly watchdog: Watchdog;
  readonly sources: Sources;
  readonly proxy: ProxyListener;
  readonly admin: AdminListener | undefined;
  /** The process that passed the sockets keeps listening on them: no connection there may be lost. */
  readonly passedSockets: boolean;
  /** Ends everything now. */
  readonly destroy: () => Promise<void>;
}

/** While draining, connections that have become idle are looked for this often. */
const DRAIN_SWEEP_MS = 50;
const CUT_SWEEPS = 100;
/** So long clients that are connected may still ask, where a stop is to lose nothing. */
const LAST_CALL_MS = 500;
const LAST_CALL_LOOK_MS = 5;

/** How far a proxy's stop has come, and what is left of it. */
export class Stop {
  /** Not ready any more; requests are still taken. */
  announced = false;
  /** No request is taken any more. */
  draining = false;
  readonly #parts: Stoppable;

  constructor(parts: Stoppable) {
    this.#parts = parts;
  }

  /**
   * Reports "not ready" and serves as before for this long: a load balancer has to see
   * it first. Each answer is the last one on its connection.
   */
  async announce(delayMs: number, signal: string): Promise<void> {
    const { clock, observe, admin } = this.#parts;
    this.announced = true;
    observe({ type: 'stop-announced', signal, delayMs });
    admin?.changed();
    await clock.sleep(delayMs);
  }

  /**
   * Stops in order: no new logins, no new connections, idle ones closed, requests under way finished, up to
   * `limitMs`. Gives how many were cut off.
   */
  async drain(limitMs: number, signal: string): Promise<number> {
    const { clock, observe, watchdog, sources, proxy, admin, passedSockets, destroy } = this.#parts;
    const wasAnnounced = this.announced;
    this.announced = true;
    observe({ type: 'draining', signal, inFlight: watchdog.size });
    sources.stop();
    admin?.endEvents();
    const deadline = clock.monoMs() + limitMs;
    if (wasAnnounced || passedSockets) await this.#lastCall();
    this.draining = true;
    proxy.stopAccepting();
    while (watchdog.size > 0 && clock.monoMs() < deadline) {
      await clock.sleep(DRAIN_SWEEP_MS);
      proxy.stopAccepting();
    }
    const cut = watchdog.size;
    await destroy();
    // Those that were cut tell of it when their connections have closed.
    for (let n = 0; n < CUT_SWEEPS && watchdog.size > 0; n++) await clock.sleep(1);
    observe({ type: 'stopped', cut });
    return cut;
  }

  /** Nothing is taken from now on. */
  takeNothing(): void {
    this.announced = true;
    this.draining = true;
  }

  /** Who is connected couldn't know: each gets an answer that ends its connection, and may ask elsewhere. */
  async #lastCall(): Promise<void> {
    const { clock, proxy } = this.#parts;
    const end = clock.monoMs() + LAST_CALL_MS;
    proxy.stopListening();
    while (proxy.connections > 0 && clock.monoMs() < end) await clock.sleep(LAST_CALL_LOOK_MS);
  }
}
