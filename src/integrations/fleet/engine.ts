/** The keys of one account, and the channel on which its instances wake each other. */
export interface Names {
  /** The sealed token. */
  readonly token: string;
  /** The sealed reason why no instance may log in now. */
  readonly hold: string;
  /** The instance that logs in. */
  readonly lock: string;
  /** The mark of the token that an upstream refused last. */
  readonly retired: string;
  /** Exists while no other token may be retired. */
  readonly floor: string;
  readonly channel: string;
}

/** A value and how long the engine keeps it; -1 if another program wrote it without an expiry. */
export interface Kept {
  readonly text: string;
  readonly ttlMs: number;
}

/** What the engine holds for an account. None of it may be trusted before it has been opened. */
export interface Seen {
  readonly token: Kept | undefined;
  readonly hold: Kept | undefined;
  readonly retired: string | undefined;
  /** Identify the bytes that were there. */
  readonly versions: { readonly token: string; readonly hold: string };
}

/** Whether this instance may log in; `changed` if it has to look at something new first. */
export type LockAnswer = 'mine' | 'another' | 'changed';

/** A token for the others. */
export interface Publication {
  readonly generation: number;
  readonly sealed: string;
  readonly ttlMs: number;
  /** The mark that would retire the token; a retired one is not published. */
  readonly mark: string;
  /** Version of a value that couldn't be opened: it is overwritten, whatever generation it claims. */
  readonly unreadable: string;
  /** The token is from a login just now: a hold on logins ends. */
  readonly isNew: boolean;
  /** Of the lock, which is given back; empty where there is none. */
  readonly owner: string;
  /** The lock stays for this long: no other login begins before. */
  readonly lockForMs: number;
}

export interface Retirement {
  readonly generation: number;
  readonly mark: string;
  readonly ttlMs: number;
  /** No other token is retired for this long. */
  readonly floorMs: number;
}

export type PublishAnswer = 'done' | 'older' | 'retired';

/** `protected` where another token was retired a moment ago. */
export type RetireAnswer = 'done' | 'protected';

/**
 * Where instances share their tokens. Each operation ends within a second or two, and gives undefined if the engine
 * fails for any reason: no request waits for the engine, or fails because of it.
 */
export interface Engine {
  look(names: Names): Promise<Seen | undefined>;
  /** @param seen what the asker's wish rests on */
  lock(names: Names, owner: string, leaseMs: number, seen: Seen): Promise<LockAnswer | undefined>;
  /** Keeps the lock for longer. */
  extend(names: Names, owner: string, leaseMs: number): Promise<unknown>;
  publish(names: Names, publication: Publication): Promise<PublishAnswer | undefined>;
  /** Gives back the lock after `lockForMs`, and with a reason why no instance should log in for a time, if there is one. */
  leave(names: Names, owner: string, lockForMs: number, hold: Kept | undefined): Promise<'done' | undefined>;
  retire(names: Names, retirement: Retirement): Promise<RetireAnswer | undefined>;
  /** Calls back when there may be something new, and after each reconnect. Gives a function that ends this. */
  listen(names: Names, wake: () => void): () => void;
  close(): Promise<void>;
}
