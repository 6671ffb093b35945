import { CONNECTION_MAX_AGE_MS } from './connection-limits.ts';
import type { Http1Connection } from './h1-connection.ts';

/** How long a connection rests after a response. Trouble, such as its end, mostly shows within this time. */
export const REST_MS = 5;

/** Its `idleTime` grows when the event loop waits for I/O. After each wait, the loop reads all data that has come. */
const { nodeTiming } = performance;

/**
 * The idle connections of one pool. A connection that has just been freed can't be taken before the event loop has read
 * from it once more. Rested connections are taken first; of them, the one used last, which the peer is least likely to
 * have closed. The others then reach their idle timeout.
 */
export class IdleConnections {
  /** Not yet read once more after their responses. */
  readonly #freed: Http1Connection[] = [];
  #freedAtIdleTime = 0;
  /** The one that has rested longest comes first. */
  readonly #resting: Http1Connection[] = [];
  readonly #rested: Http1Connection[] = [];

  get size(): number {
    return this.#freed.length + this.#resting.length + this.#rested.length;
  }

  /** How many can be taken a turn later. */
  get freed(): number {
    return this.#freed.length;
  }

  add(connection: Http1Connection): void {
    this.#freed.push(connection);
    this.#freedAtIdleTime = nodeTiming.idleTime;
  }

  /** Adds a connection that has carried no request. */
  addUnused(connection: Http1Connection): void {
    this.#rested.push(connection);
  }

  /** Finds the connections that have rested. Call it at the end of a turn, before connections are taken. */
  findRested(nowMonoMs: number): void {
    if (this.#freed.length > 0 && nodeTiming.idleTime > this.#freedAtIdleTime) this.endTurn();
    const resting = this.#resting;
    let count = 0;
    while (count < resting.length && resting[count]!.freeSinceMonoMs <= nowMonoMs - REST_MS) count++;
    if (count > 0) this.#rested.push(...resting.splice(0, count));
  }

  /** @param restedOnly for a request that can't be sent again if its connection closes */
  take(restedOnly: boolean, nowMonoMs: number): Http1Connection | undefined {
    for (;;) {
      const connection = this.#rested.pop() ?? (restedOnly ? undefined : this.#resting.shift());
      if (connection === undefined || isFit(connection, nowMonoMs)) return connection;
      connection.destroy();
    }
  }

  /** Call it after connections have been taken: the event loop reads once more before the next are taken. */
  endTurn(): void {
    if (this.#freed.length > 0) this.#resting.push(...this.#freed.splice(0));
  }

  remove(connection: Http1Connection): void {
    for (const list of [this.#rested, this.#resting, this.#freed]) {
      const index = list.lastIndexOf(connection);
      if (index !== -1) list.splice(index, 1);
    }
  }

  /** The connections that are too old, or have been idle for too long. */
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
