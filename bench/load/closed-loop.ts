import { Client } from './client.ts';
import type { Exchange } from './exchange.ts';

/** So many connections, opened and used once before anything is measured. */
export class Crowd {
  readonly #clients: readonly Client[];

  private constructor(clients: readonly Client[]) {
    this.#clients = clients;
  }

  static async to(port: number, connections: number, exchange: Exchange): Promise<Crowd> {
    const clients: Client[] = [];
    // Not all at once: it is not the backlog of the listening socket that is measured.
    while (clients.length < connections) {
      const some = Math.min(64, connections - clients.length);
      clients.push(...(await Promise.all(Array.from({ length: some }, () => Client.to(port)))));
    }
    const crowd = new Crowd(clients);
    await crowd.run(exchange, connections);
    return crowd;
  }

  /** Each client sends its next request as soon as it has an answer, until `requests` of them are answered. */
  run(exchange: Exchange, requests: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let unsent = requests;
      let unanswered = requests;
      for (const client of this.#clients) {
        const next = (error?: Error) => {
          if (error !== undefined) return reject(error);
          if (--unanswered === 0) return resolve();
          send();
        };
        const send = () => {
          if (unsent === 0) return;
          unsent--;
          client.send(exchange, next);
        };
        send();
      }
    });
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}
