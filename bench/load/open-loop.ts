import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.ts';
import type { Exchange } from './exchange.ts';

/** Sends at its own pace, whether or not answers have come, on however many connections that takes. */
export class Pacer {
  readonly #port: number;
  readonly #idle: Client[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** Milliseconds from each request to the end of its answer. */
  async run(exchange: Exchange, perSecond: number, seconds: number): Promise<number[]> {
    const times: number[] = [];
    const total = perSecond * seconds;
    let failure: Error | undefined;
    const startMs = performance.now();
    for (let sent = 0; sent < total && failure === undefined; ) {
      const due = Math.min(total, Math.floor(((performance.now() - startMs) * perSecond) / 1_000) + 1);
      for (; sent < due; sent++) {
        const client = this.#idle.pop() ?? (await Client.to(this.#port));
        const sentMs = performance.now();
        client.send(exchange, (error) => {
          times.push(performance.now() - sentMs);
          this.#idle.push(client);
          failure ??= error;
        });
      }
      await sleep(1);
    }
    while (times.length < total && failure === undefined) await sleep(5);
    if (failure !== undefined) throw failure;
    return times;
  }

  close(): void {
    for (const client of this.#idle) client.close();
  }
}
