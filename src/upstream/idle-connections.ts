import { CONNECTION_MAX_AGE_MS } from './connection.ts';
import type { Http1Connection } from './h1-connection.ts';

/** Trouble after a response, such as the end of the connection, mostly shows within this time. */
export const REST_MS = 5;

/** Its `idleTime` grows each time that the event loop has waited for something to read, and then reads it all. */
const { nodeTiming } = performance;

/**
 * The connections of one pool that carry nothing. One that has just been freed may not be taken before the event loop
 * has read from it once more. Those that have rested are taken first, and of them the one used last: it is the least
 * likely to be closed by now, and the others come to their idle time.
 */
export class IdleConnections {
  /** Not yet checked for more bytes behind their answers. */
  readonly #freed: Http1Connection[] = [];
  #freedAtIdleTime = 0;
  /** The one that has rested longest is first. */
  readonly #resting: Http1Connection[] = [];
  readonly #rested: Http1Connection[] = [];

  get size(): number {
    return this.#freed.length + this.#resting.length + this.#rested.length;
  }

  /** How many may be taken after the next turn. */
  get freed(): number {
    return this.#freed.length;
  }

  add(connection: Http1Connection): void {
    this.#freed.push(connection);
    this.#freedAtIdleTime = nodeTiming.idleTime;
  }

  /** Adds a connection that has carried nothing. */
  addUnused(connection: Http1Connection): void {
    this.#rested.push(connection);
  }

  /** To be called at the end of the event loop's turn, before connections are taken: finds those that have rested. */
  rest(nowMonoMs: number): void {
    if (this.#freed.length > 0 && nodeTiming.idleTime > this.#freedAtIdleTime) this.endTurn();
    const resting = this.#resting;
    let count = 0;
    while (count < resting.length && resting[count]!.freeSinceMonoMs <= nowMonoMs - REST_MS) count++;
    if (count > 0) this.#rested.push(...resting.splice(0, count));
  }

  /** @param restedOnly for a request that can't be sent again */
  take(restedOnly: boolean, nowMonoMs: number): Http1Connection | undefined {
    for (;;) {
      const connection = this.#rested.pop() ?? (restedOnly ? undefined : this.#resting.shift());
      if (connection === undefined || isFit(connection, nowMonoMs)) return connection;
      connection.destroy();
    }
  }

  /** To be called after connections have been taken: before the next are, the event loop reads once more. */
  endTurn(): void {
    if (this.#freed.length > 0) this.#resting.push(...this.#freed.splice(0));
  }

  remove(connection: Http1Connection): void {
    for (const list of [this.#rested, this.#resting, this.#freed]) {
      const index = list.lastIndexOf(connection);
      if (index !== -1) list.splice(index, 1);
    }
  }

  /** The connections that are too old. */
  unfit(nowMonoMs: number): Http1Connection[] {
    return this.#all().filter((connection) => !isFit(connection, nowMonoMs));
  }

  destroy(): void {
    for (const connection of this.#all()) connection.destroy();
  }

  #all(): Http1Connection[] {
    return [...this.#freed, ...this.#resting, ...this.#rested];
  }
}

export function isFit({ idleUntilMonoMs, openedMonoMs }: Http1Connection, nowMonoMs: number): boolean {
  return idleUntilMonoMs > nowMonoMs && nowMonoMs - openedMonoMs < CONNECTION_MAX_AGE_MS;
}
