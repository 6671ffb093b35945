import type { Clock } from '../base/clock.ts';
import type { Observe } from '../base/events.ts';
import type { Watchdog } from '../forward/watchdog.ts';
import type { AdminListener } from '../listen/admin.ts';
import type { ProxyListener } from '../listen/proxy.ts';
import type { Sources } from './sources.ts';

interface Stoppable {
  readonly clock: Clock;
  readonly observe: Observe;
  readonly watchdog: Watchdog;
  readonly sources: Sources;
  readonly proxy: ProxyListener;
  readonly admin: AdminListener | undefined;
  /** Another process passed the sockets and keeps listening on them: no connection there may be lost. */
  readonly passedSockets: boolean;
  /** Ends everything now. */
  readonly destroy: () => Promise<void>;
}

/** While draining, idle connections are closed this often. */
const DRAIN_SWEEP_MS = 50;
/** The longest wait for the events of requests that were cut off, in milliseconds. */
const CUT_WAIT_MS = 100;
/** If a stop must lose no request, connected clients may send requests for this long. */
const LAST_REQUESTS_MS = 500;
const LAST_REQUESTS_LOOK_MS = 5;

/** The stop of a proxy: its progress and its steps. */
export class Stop {
  /** Readiness reports "not ready"; requests are still accepted. */
  announced = false;
  /** New requests are refused. */
  draining = false;
  readonly #parts: Stoppable;

  constructor(parts: Stoppable) {
    this.#parts = parts;
  }

  /**
   * Reports "not ready" and serves for `delayMs`, until load balancers have noticed. Each answer closes its connection.
   */
  async announce(delayMs: number, signal: string): Promise<void> {
    const { clock, observe, admin } = this.#parts;
    this.announced = true;
    observe({ type: 'stop-announced', signal, delayMs });
    admin?.changed();
    await clock.sleep(delayMs);
  }

  /**
   * Stops in order: no new logins, no new connections, idle ones closed, requests under way finished within `limitMs`.
   *
   * @returns the number of requests that were cut off
   */
  async drain(limitMs: number, signal: string): Promise<number> {
    const { clock, observe, watchdog, sources, proxy, admin, passedSockets, destroy } = this.#parts;
    const wasAnnounced = this.announced;
    this.announced = true;
    observe({ type: 'draining', signal, inFlight: watchdog.size });
    sources.stop();
    admin?.endEvents();
    const deadline = clock.monoMs() + limitMs;
    if (wasAnnounced || passedSockets) await this.#lastRequests();
    this.draining = true;
    proxy.stopAccepting();
    while (watchdog.size > 0 && clock.monoMs() < deadline) {
      await clock.sleep(DRAIN_SWEEP_MS);
      proxy.stopAccepting();
    }
    const cut = watchdog.size;
    await destroy();
    // A request that was cut off emits its event when its connection has closed.
    for (let ms = 0; ms < CUT_WAIT_MS && watchdog.size > 0; ms++) await clock.sleep(1);
    observe({ type: 'stopped', cut });
    return cut;
  }

  /** Refuses requests from now on. */
  takeNothing(): void {
    this.announced = true;
    this.draining = true;
  }

  /** Connected clients don't know of the stop: each gets one more answer, which closes its connection. */
  async #lastRequests(): Promise<void> {
    const { clock, proxy } = this.#parts;
    const end = clock.monoMs() + LAST_REQUESTS_MS;
    proxy.stopListening();
    while (proxy.connections > 0 && clock.monoMs() < end) await clock.sleep(LAST_REQUESTS_LOOK_MS);
  }
}
