/** The keys of one account, and the channel by which its instances wake each other. */
export interface Names {
  /** The sealed token. */
  readonly token: string;
  /** The sealed reason why no instance may log in now. */
  readonly hold: string;
  /** The instance that logs in. */
  readonly lock: string;
  /** The mark of the token that an upstream refused last. */
  readonly retired: string;
  /** There while another token may not be retired yet. */
  readonly floor: string;
  readonly channel: string;
}

/** A value and how long the engine keeps it; -1 where another program has put it there without an end. */
export interface Kept {
  readonly text: string;
  readonly ttlMs: number;
}

/** What the engine holds of an account. Not one bit of it is to be trusted before it has been opened. */
export interface Seen {
  readonly token: Kept | undefined;
  readonly hold: Kept | undefined;
  readonly retired: string | undefined;
  /** Stand for the bytes that were there, whatever they were. */
  readonly versions: { readonly token: string; readonly hold: string };
}

/** May I log in? `changed` where there is something new to be looked at first. */
export type LockAnswer = 'mine' | 'another' | 'changed';

/** A token for the others. */
export interface Publication {
  readonly generation: number;
  readonly sealed: string;
  readonly ttlMs: number;
  /** What the token would be retired by; one that is retired is not published. */
  readonly mark: string;
  /** Version of a value that couldn't be opened: it is written over, whatever generation it claims. */
  readonly unreadable: string;
  /** It comes from a login just now: what kept others from one is over. */
  readonly isNew: boolean;
  /** Of the lock, which is given back; empty where there is none. */
  readonly owner: string;
  /** The lock stays for so long: no other login begins before. */
  readonly lockForMs: number;
}

export interface Retirement {
  readonly generation: number;
  readonly mark: string;
  readonly ttlMs: number;
  /** For so long no other token is retired. */
  readonly floorMs: number;
}

export type PublishAnswer = 'done' | 'older' | 'retired';

/** `protected` where another token was retired a moment ago. */
export type RetireAnswer = 'done' | 'protected';

/**
 * What instances share their tokens by. Each verb ends within a second or two, and gives undefined where the engine
 * can't do it, whatever the reason: no request waits for the engine, or fails with it.
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
  /** Calls back when there may be something new, and each time that the connection is back. Gives the end of it. */
  listen(names: Names, wake: () => void): () => void;
  close(): Promise<void>;
}
