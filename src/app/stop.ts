import type { Clock } from '../base/clock.ts';
import type { Observe } from '../base/events.ts';
import type { Watchdog } from '../forward/watchdog.ts';
import type { AdminListener } from '../listen/admin.ts';
import type { ProxyListener } from '../listen/proxy.ts';
import type { Sources } from './sources.ts';

/** What a stop works on. */
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

/** While draining, idle connections are looked for this often. */
const DRAIN_SWEEP_MS = 50;
const CUT_SWEEPS = 100;
/** Connected clients may still ask for this long, if a stop must lose nothing. */
const LAST_CALL_MS = 500;
const LAST_CALL_LOOK_MS = 5;

/** The stop of a proxy: how far it has come, and the rest of it. */
export class Stop {
  /** Reported as "not ready"; requests are still taken. */
  announced = false;
  /** No requests are taken. */
  draining = false;
  readonly #parts: Stoppable;

  constructor(parts: Stoppable) {
    this.#parts = parts;
  }

  /**
   * Reports "not ready" and serves as before for this long: a load balancer has to see it first. Each answer is the last
   * one on its connection.
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
    // A request that was cut off emits its event when its connection has closed.
    for (let n = 0; n < CUT_SWEEPS && watchdog.size > 0; n++) await clock.sleep(1);
    observe({ type: 'stopped', cut });
    return cut;
  }

  /** Takes no requests from now on. */
  takeNothing(): void {
    this.announced = true;
    this.draining = true;
  }

  /** Connected clients don't know of the stop: each gets an answer that closes its connection, and can ask elsewhere. */
  async #lastCall(): Promise<void> {
    const { clock, proxy } = this.#parts;
    const end = clock.monoMs() + LAST_CALL_MS;
    proxy.stopListening();
    while (proxy.connections > 0 && clock.monoMs() < end) await clock.sleep(LAST_CALL_LOOK_MS);
  }
}
