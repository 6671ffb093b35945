import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Wire } from '../faults/ledger.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { within } from '../support/raw-client.ts';
import type { Arrivals, Orders } from './orders.ts';

const FAR_SIDE = fileURLToPath(new URL('far-side.ts', import.meta.url));

/** The process of the session endpoint and the upstream. */
export class FarProcess {
  readonly #child: ChildProcess;
  readonly ports: { readonly session: number; readonly upstream: number };

  private constructor(child: ChildProcess, ports: FarProcess['ports']) {
    this.#child = child;
    this.ports = ports;
  }

  static async startedFor(t: Lifetime, wire: Wire): Promise<FarProcess> {
    const child = fork(FAR_SIDE, [wire]);
    t.teardown(() => child.kill('SIGKILL'));
    const [ports] = await within(10_000, once(child, 'message'), () => 'the far side does not start');
    return new FarProcess(child, ports);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  order(orders: Orders): void {
    this.#child.send(orders);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async arrivals(): Promise<Arrivals> {
    this.#child.send('tell');
    const [arrivals] = await within(
      10_000,
      once(this.#child, 'message'),
      () => 'the far side does not answer',
    );
    return arrivals;
  }
}
