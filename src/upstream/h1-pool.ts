import type { Dispatcher } from 'undici';
import { Members } from '../members.ts';
import { CONNECTION_MAX_AGE_MS, type ConnectionAware } from './connection.ts';
import type { Http1Connection } from './h1-connection.ts';

/**
 * The HTTP/1.1 connections to one origin, each with one request at a time. The one used last is taken first: it is the
 * least likely to be closed by now, and the others come to their idle time. undici's own pool looks at all of its
 * connections for each request, which with two thousand of them costs more than all the rest.
 */
export class Http1Pool {
  readonly #create: () => Http1Connection;
  readonly #all = new Members<Http1Connection>();
  readonly #idle: Http1Connection[] = [];
  #closed = false;

  constructor(create: () => Http1Connection) {
    this.#create = create;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler & ConnectionAware): void {
    const connection = this.#takeIdle() ?? this.#open();
    // True when it has refused the request by itself, and may or may not say that it is free again.
    if (connection.dispatch(options, handler)) this.#retire(connection);
  }

  /** Lets the requests under way end, then closes. */
  close(): void {
    this.#closed = true;
    this.#idle.length = 0;
    for (const connection of this.#all) connection.close().catch(() => {});
  }

  destroy(): void {
    this.#closed = true;
    this.#idle.length = 0;
    for (const connection of this.#all) connection.destroy().catch(() => {});
  }

  #takeIdle(): Http1Connection | undefined {
    const oldest = performance.now() - CONNECTION_MAX_AGE_MS;
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || connection.openedMonoMs > oldest) return connection;
      this.#retire(connection);
    }
  }

  #open(): Http1Connection {
    const connection = this.#create();
    this.#all.add(connection);
    return connection
      .on('drain', () => this.#free(connection))
      .on('disconnect', () => this.#disconnected(connection));
  }

  #free(connection: Http1Connection): void {
    // A last word of one that has been retired, too.
    if (this.#closed || connection.memberAt === -1) return;
    if (connection.connected) this.#idle.push(connection);
    else this.#retire(connection);
  }

  /** One that has a request still opens another connection for it. */
  #disconnected(connection: Http1Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.#retire(connection);
  }

  #retire(connection: Http1Connection): void {
    this.#all.delete(connection);
    connection.close().catch(() => {});
  }
}
