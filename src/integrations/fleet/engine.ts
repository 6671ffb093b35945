/** The keys of one account, and the channel on which its instances wake each other. */
export interface Names {
  /** The sealed token. */
  readonly token: string;
  /** The sealed reason why no instance may log in now. */
  readonly hold: string;
  /** Which instance logs in. */
  readonly lock: string;
  /** The mark of the last token that an upstream refused. */
  readonly retired: string;
  /** Exists as long as no other token may be retired. */
  readonly floor: string;
  readonly channel: string;
}

/** A value, and how long the engine keeps it; -1 if another program wrote it without an expiry. */
export interface Kept {
  readonly text: string;
  readonly ttlMs: number;
}

/** What the engine holds for an account. It can be trusted only after it has been opened. */
export interface Seen {
  readonly token: Kept | undefined;
  readonly hold: Kept | undefined;
  readonly retired: string | undefined;
  /** Digests of the two values, to notice a change. */
  readonly versions: { readonly token: string; readonly hold: string };
}

/** Whether this instance may log in. `changed`: there is a new value, which it must read first. */
export type LockAnswer = 'mine' | 'another' | 'changed';

/** A token for the other instances. */
export interface Publication {
  readonly generation: number;
  readonly sealed: string;
  readonly ttlMs: number;
  /** The token's mark. If it is the retired one, the token is not published. */
  readonly mark: string;
  /** The version of a value that could not be opened. It is overwritten, whatever generation it claims. */
  readonly unreadable: string;
  /** The token is from a login just now, so a hold on logins ends. */
  readonly isNew: boolean;
  /** The lock's owner, to give back the lock; empty without a lock. */
  readonly owner: string;
  /** How long the lock stays, so that no other login begins before. */
  readonly lockForMs: number;
}

export interface Retirement {
  readonly generation: number;
  readonly mark: string;
  readonly ttlMs: number;
  /** How long no other token is retired. */
  readonly floorMs: number;
}

export type PublishAnswer = 'done' | 'older' | 'retired';

/** `protected`: another token was retired a moment ago. */
export type RetireAnswer = 'done' | 'protected';

/**
 * Where instances share their tokens. Each operation ends within two seconds, and resolves to undefined if the engine
 * fails for any reason. So no request waits for the engine, or fails because of it.
 */
export interface Engine {
  look(names: Names): Promise<Seen | undefined>;
  /** @param seen what this instance has read; the lock is refused if the engine holds something newer */
  lock(names: Names, owner: string, leaseMs: number, seen: Seen): Promise<LockAnswer | undefined>;
  /** Extends the lock. */
  extend(names: Names, owner: string, leaseMs: number): Promise<unknown>;
  publish(names: Names, publication: Publication): Promise<PublishAnswer | undefined>;
  /** Gives back the lock after `lockForMs`. @param hold why no instance may log in for a time, if so */
  unlock(names: Names, owner: string, lockForMs: number, hold: Kept | undefined): Promise<'done' | undefined>;
  retire(names: Names, retirement: Retirement): Promise<RetireAnswer | undefined>;
  /** Calls back when there may be something new, and after each reconnect. @returns stops that */
  listen(names: Names, wake: () => void): () => void;
  close(): Promise<void>;
}
