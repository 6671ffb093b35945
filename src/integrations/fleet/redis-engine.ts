import type {
  Engine,
  Kept,
  LockAnswer,
  Names,
  Publication,
  PublishAnswer,
  RetireAnswer,
  Retirement,
  Seen,
} from './engine.ts';
import { RedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
import { EXTEND, LOCK, LOOK, PUBLISH, RETIRE, UNLOCK } from './scripts.ts';

/** Redis or Valkey. Each operation is one script, which runs atomically. */
export class RedisEngine implements Engine {
  readonly #connection: RedisConnection;

  constructor(options: RedisConnectionOptions) {
    this.#connection = new RedisConnection(options);
  }

  async look(names: Names): Promise<Seen | undefined> {
    const reply = await this.#run(LOOK, names);
    if (!Array.isArray(reply)) return undefined;
    const [token, tokenTtl, tokenVersion, hold, holdTtl, holdVersion, retired] = reply;
    return {
      token: kept(token, tokenTtl),
      hold: kept(hold, holdTtl),
      retired: typeof retired === 'string' && retired !== '' ? retired : undefined,
      versions: { token: String(tokenVersion), hold: String(holdVersion) },
    };
  }

  lock(names: Names, owner: string, leaseMs: number, { versions }: Seen): Promise<LockAnswer | undefined> {
    return this.#run(LOCK, names, owner, leaseMs, versions.token, versions.hold);
  }

  extend(names: Names, owner: string, leaseMs: number): Promise<unknown> {
    return this.#run(EXTEND, names, owner, leaseMs);
  }

  publish(names: Names, publication: Publication): Promise<PublishAnswer | undefined> {
    const { generation, sealed, ttlMs, mark, unreadable, isNew, owner, lockForMs } = publication;
    const token = [generation, sealed, ttlMs, mark, unreadable, isNew ? 'new' : ''];
    return this.#run(PUBLISH, names, names.channel, owner, lockForMs, ...token);
  }

  unlock(
    names: Names,
    owner: string,
    lockForMs: number,
    hold: Kept | undefined,
  ): Promise<'done' | undefined> {
    return this.#run(UNLOCK, names, names.channel, owner, lockForMs, hold?.text ?? '', hold?.ttlMs ?? 0);
  }

  retire(names: Names, { generation, mark, ttlMs, floorMs }: Retirement): Promise<RetireAnswer | undefined> {
    return this.#run(RETIRE, names, names.channel, generation, mark, ttlMs, floorMs);
  }

  listen({ channel }: Names, wake: () => void): () => void {
    return this.#connection.listen(channel, wake);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** @returns what the script returns. Its type is certain, because the script is bearerd's own. */
  async #run<T>(script: string, names: Names, ...args: (string | number)[]): Promise<T | undefined> {
    const { token, hold, lock, retired, floor } = names;
    const keys = [token, hold, lock, retired, floor];
    const command = ['EVAL', script, `${keys.length}`, ...keys, ...args.map(String)];
    return (await this.#connection.run(command)) as T | undefined;
  }
}

function kept(text: unknown, ttlMs: unknown): Kept | undefined {
  return typeof text === 'string' && text !== '' ? { text, ttlMs: Number(ttlMs) } : undefined;
}
