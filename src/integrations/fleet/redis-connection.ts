import { type Clock, systemClock } from '../../base/clock.ts';
import type { EngineState } from '../../base/engine-state.ts';
import { type Client, checkMode, clientFor, destroy, isFull, reasonOf, type Server } from './redis-client.ts';
import { PROBE } from './scripts.ts';

/** For connecting and logging in, and for the reply to one command. Beyond it, the engine counts as unreachable. */
const CONNECT_LIMIT_MS = 2_000;
const COMMAND_LIMIT_MS = 1_000;
/** The pause between two attempts to connect doubles from the first to the last value; less up to half, by chance. */
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 2_000;
/** The interval of PINGs, so that a broken connection is noticed before a login needs it. */
const HEARTBEAT_MS = 3_000;

export interface RedisConnectionOptions extends Server {
  /** An engine key to write and a channel to publish to, as a test that the user may do so. */
  readonly probe: string;
  /** Called with each state, even if it is the same as before. */
  readonly onState: (state: EngineState) => void;
  readonly clock?: Clock;
  /** `COMMAND_LIMIT_MS`, unless a test sets less. */
  readonly commandLimitMs?: number;
}

/** A connection to a Redis or Valkey. It reconnects by itself. */
export class RedisConnection {
  #state: EngineState = { state: 'connecting' };
  readonly #options: RedisConnectionOptions;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #connecting: Promise<void>;
  readonly #loop: Promise<void>;
  #client: Client | undefined;
  #lost = new AbortController();

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#connecting = this.#connect();
    this.#loop = this.#connecting.then(() => this.#stayConnected());
  }

  /** Undefined if there is an error or no reply. Never rejects. */
  async run(command: readonly string[]): Promise<unknown> {
    if (this.#state.state === 'connecting') await this.#connecting;
    const client = this.#client;
    if (client === undefined) return undefined;
    try {
      return await inTime(client.sendCommand(command), this.#options.commandLimitMs ?? COMMAND_LIMIT_MS);
    } catch (error) {
      if (isFull(error)) this.#enter({ state: 'gone', reason: reasonOf(error) });
      else this.#lose(client, reasonOf(error));
      return undefined;
    }
  }

  /** Calls back at each message on the channel and after each reconnect. @returns stops that */
  listen(channel: string, wake: () => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    const client = this.#client;
    const isFirst = listeners.size === 0;
    this.#listeners.set(channel, listeners.add(wake));
    if (client !== undefined && isFirst) void this.#subscribeLate(client, channel, wake);
    else if (client !== undefined) wake();
    return () => listeners.delete(wake);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#lost.abort();
    await this.#loop;
  }

  async #stayConnected(): Promise<void> {
    let delayMs = FIRST_RETRY_MS;
    while (!this.#closed.signal.aborted) {
      if (this.#client === undefined) {
        await this.#clock.sleep(delayMs * (0.5 + 0.5 * Math.random()), this.#closed.signal);
        delayMs = Math.min(LAST_RETRY_MS, delayMs * 2);
        if (!this.#closed.signal.aborted) await this.#connect();
      } else {
        await this.#clock.sleep(HEARTBEAT_MS, this.#lost.signal);
        if (this.#client === undefined || this.#closed.signal.aborted) continue;
        delayMs = FIRST_RETRY_MS; // Not earlier: an engine that accepts connections but refuses all commands is asked less often.
        await this.#beat();
      }
    }
    this.#drop();
  }

  async #beat(): Promise<void> {
    const wasFull = this.#state.state === 'gone';
    const answer = await this.run(wasFull ? this.#probe : ['PING']);
    if (wasFull && answer !== undefined) this.#enter({ state: 'ready' });
  }

  /** Never rejects. */
  async #connect(): Promise<void> {
    let client: Client | undefined;
    let state: EngineState = { state: 'ready' };
    try {
      client = this.#newClient();
      await inTime(this.#open(client), CONNECT_LIMIT_MS);
    } catch (error) {
      state = { state: 'gone', reason: reasonOf(error) };
      if (!isFull(error)) destroy(client);
    }
    if (this.#closed.signal.aborted) return destroy(client);
    if (client?.isOpen === true) {
      this.#lost = new AbortController();
      this.#client = client;
    }
    this.#enter(state);
  }

  #newClient(): Client {
    const client = clientFor(this.#options);
    // Without a listener, Node would throw the error as an uncaught exception.
    client.on('error', (error: unknown) => this.#lose(client, reasonOf(error)));
    return client;
  }

  async #open(client: Client): Promise<void> {
    await client.connect();
    await checkMode(client);
    for (const channel of this.#listeners.keys()) await this.#subscribe(client, channel);
    await client.sendCommand(this.#probe);
  }

  get #probe(): string[] {
    return ['EVAL', PROBE, '1', this.#options.probe];
  }

  #subscribe(client: Client, channel: string): Promise<void> {
    return client.subscribe(channel, () => this.#wake(channel));
  }

  async #subscribeLate(client: Client, channel: string, wake: () => void): Promise<void> {
    try {
      await inTime(this.#subscribe(client, channel), COMMAND_LIMIT_MS);
      wake();
    } catch (error) {
      this.#lose(client, reasonOf(error));
    }
  }

  #wake(channel: string): void {
    for (const wake of this.#listeners.get(channel) ?? []) wake();
  }

  #lose(client: Client, reason: string): void {
    if (this.#client !== client) return;
    this.#drop();
    this.#enter({ state: 'gone', reason });
    this.#lost.abort();
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    destroy(client);
  }

  #enter(state: EngineState): void {
    if (this.#closed.signal.aborted) return;
    const before = this.#state;
    this.#state = state;
    this.#options.onState(state);
    if (state.state === 'ready' && before.state !== 'ready')
      for (const channel of this.#listeners.keys()) this.#wake(channel);
  }
}

class LateError extends Error {
  readonly code = 'ETIMEDOUT';
}

/**
 * The limit is in real time, whatever clock a test uses, because an engine is a separate program. If the process was
 * busy or stopped beyond the limit, the timer fires before replies have been read. So these are read first
 * (`setImmediate`).
 */
async function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(new LateError())), limitMs);
  });
  work.catch(() => {}); // It may reject after the limit.
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
