import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { stop } from '../children.ts';
import { Client } from '../load/client.ts';
import type { Origin } from '../upstream/upstream.ts';

/** One proxy that can be measured, with one worker and one thread where that can be said. */
export interface Contender {
  readonly name: string;
  /** Undefined where it is not installed. */
  readonly version: string | undefined;
  /** Whether its code gets faster while it runs. */
  readonly warmsUp: boolean;
  /** It verifies the upstream's certificate, so that the cost of that can be compared. */
  readonly overTls: boolean;
  launch(port: number, origin: Origin): Launched | Promise<Launched>;
}

export interface Launched {
  readonly child: ChildProcess;
  /** Helpers that end with it and are no part of what is measured. */
  readonly helpers?: readonly ChildProcess[];
}

/** A contender that listens. */
export class Running {
  readonly contender: Contender;
  readonly port: number;
  readonly #launched: Launched;

  private constructor(contender: Contender, port: number, launched: Launched) {
    this.contender = contender;
    this.port = port;
    this.#launched = launched;
  }

  static async of(contender: Contender, port: number, origin: Origin): Promise<Running> {
    const launched = await contender.launch(port, origin);
    const running = new Running(contender, port, launched);
    await running.#listening();
    return running;
  }

  get name(): string {
    return this.contender.name;
  }

  /** How it ended, where it has. */
  get ended(): number | string | null {
    return this.#launched.child.exitCode ?? this.#launched.child.signalCode;
  }

  get pid(): number {
    return this.#launched.child.pid!;
  }

  async stop(): Promise<void> {
    await stop(this.#launched.child);
    for (const helper of this.#launched.helpers ?? []) await stop(helper);
  }

  async #listening(): Promise<void> {
    for (let n = 0; n < 400; n++) {
      const client = await Client.to(this.port).catch(() => undefined);
      client?.close();
      if (client !== undefined) return;
      if (this.ended !== null) break;
      await sleep(25);
    }
    await this.stop();
    throw new Error(
      `${this.name} does not listen${this.ended === null ? '' : `: it ended with ${this.ended}`}`,
    );
  }
}
