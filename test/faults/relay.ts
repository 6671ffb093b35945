import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifetime } from '../support/lifetime.ts';

export type Cut = 'reset' | 'end';

/** Connections that come at once wait here; what finds no place would be a fault by accident. */
const BACKLOG = 4_096;

let relays = 0;

/**
 * An address that no other program listens on: a port that was closed is still free when it is opened again. All of
 * 127.0.0.0/8 is this machine.
 */
function ownAddress(): string {
  return `127.${1 + ((process.pid >> 8) % 250)}.${process.pid & 255}.${1 + (relays++ % 250)}`;
}

/** One connection that is passed on. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/** What is done to bytes on their way. Undone by `heal`. */
interface Verbs {
  /** Nothing arrives any more, and neither end is told; of `links`, only on connections that there are. */
  readonly blackhole: 'nothing' | 'links' | 'everything';
  readonly cutAtAccept: Cut | undefined;
  /** The next bytes towards the server cut the connection in place of arriving. */
  readonly cutAtNext: Cut | undefined;
  readonly delayMs: number;
  /** So few bytes of an answer at a time, with as many milliseconds between; 0 for no limit. */
  readonly drip: { readonly bytes: number; readonly everyMs: number };
}

const HEALTHY: Verbs = {
  blackhole: 'nothing',
  cutAtAccept: undefined,
  cutAtNext: undefined,
  delayMs: 0,
  drip: { bytes: 0, everyMs: 0 },
};

/** What stands between bearerd and a server, and does to their connections what networks do. */
export class Relay {
  readonly address = ownAddress();
  readonly #links = new Set<Link>();
  /** Those whose bytes vanish. */
  readonly #lost = new WeakSet<Link>();
  readonly #t: Lifetime;
  readonly #target: number;
  #server: Server;
  #port = 0;
  #verbs = HEALTHY;
  /** Answer bytes that still pass before a connection is cut, or a byte is changed. */
  #left: { bytes: number; verb: Cut | 'corrupt' } | undefined;
  accepted = 0;

  private constructor(t: Lifetime, target: number) {
    this.#t = t;
    this.#target = target;
    this.#server = this.#create();
  }

  static async startedFor(t: Lifetime, target: number): Promise<Relay> {
    const relay = new Relay(t, target);
    await relay.accept();
    t.teardown(() => relay.refuse());
    return relay;
  }

  get port(): number {
    return this.#port;
  }

  /** The same port at another address. */
  async besides(): Promise<Relay> {
    const other = new Relay(this.#t, this.#target);
    other.#port = this.#port;
    await other.accept();
    this.#t.teardown(() => other.refuse());
    return other;
  }

  /** Connections that bearerd has not ended. */
  get open(): number {
    return [...this.#links].filter(({ client }) => !client.destroyed && !client.readableEnded).length;
  }

  /** The port is closed, and whatever was open breaks. */
  refuse(): void {
    this.#server.close();
    this.cut('reset');
  }

  /** The same port is open again. */
  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server = this.#create().listen(this.#port, this.address, BACKLOG);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as { port: number }).port;
  }

  set(verbs: Partial<Verbs>): void {
    this.#verbs = { ...HEALTHY, ...verbs };
    if (this.#verbs.blackhole !== 'nothing') for (const link of this.#links) this.#lost.add(link);
  }

  /** Every connection ends now. */
  cut(how: Cut): void {
    for (const link of this.#links) this.#cut(link, how);
  }

  /** So many more bytes of answers pass; then what carries them is cut. */
  cutAfter(bytes: number, how: Cut): void {
    this.#left = { bytes, verb: how };
  }

  /** The byte after so many more of answers is another one. */
  corruptAfter(bytes: number): void {
    this.#left = { bytes, verb: 'corrupt' };
  }

  /** All is well from now on, on connections that are new; those whose bytes vanished never learn of it. */
  async heal(): Promise<void> {
    this.#verbs = HEALTHY;
    this.#left = undefined;
    await this.accept();
  }

  #create(): Server {
    return createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      this.accepted++;
      client.on('error', () => {});
      const { cutAtAccept, blackhole } = this.#verbs;
      if (cutAtAccept !== undefined) return end(client, cutAtAccept);
      const server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      server.on('error', () => {});
      const link = { client, server };
      this.#links.add(link);
      if (blackhole === 'everything') this.#lost.add(link);
      for (const socket of [client, server]) socket.on('close', () => this.#closed(link));
      void this.#pass(link, 'up');
      void this.#pass(link, 'down');
    });
  }

  #closed(link: Link): void {
    if (!link.client.destroyed || !link.server.destroyed) return;
    this.#links.delete(link);
  }

  async #pass(link: Link, way: 'up' | 'down'): Promise<void> {
    const [from, to] = way === 'up' ? [link.client, link.server] : [link.server, link.client];
    try {
      for await (const piece of from.iterator({ destroyOnReturn: false })) {
        if (this.#lost.has(link)) continue; // Read all the same: a network takes what it loses.
        if (way === 'up' && this.#verbs.cutAtNext !== undefined)
          return this.#cut(link, this.#verbs.cutAtNext);
        if (way === 'up') await this.#write(to, piece, 0);
        else if (!(await this.#answer(link, piece))) return;
      }
      // A peer behind a broken network doesn't see the end either. The rest is dropped with the client.
      if (!this.#lost.has(link)) to.end();
      else if (way === 'up') this.#cut(link, 'reset');
    } catch {
      end(to, 'reset');
    }
  }

  /** False where that was the last of it. */
  async #answer(link: Link, piece: Buffer): Promise<boolean> {
    const left = this.#left;
    if (left === undefined || left.bytes >= piece.length) {
      if (left !== undefined) left.bytes -= piece.length;
      await this.#write(link.client, piece);
      return true;
    }
    this.#left = undefined;
    if (left.verb === 'corrupt') {
      piece[left.bytes]! ^= 0x20;
      await this.#write(link.client, piece);
      return true;
    }
    await this.#write(link.client, piece.subarray(0, left.bytes));
    this.#cut(link, left.verb);
    return false;
  }

  /** @param most bytes at a time; 0 for no limit */
  async #write(to: Socket, piece: Buffer, most: number = this.#verbs.drip.bytes): Promise<void> {
    const { delayMs, drip } = this.#verbs;
    if (delayMs > 0) await sleep(delayMs);
    const size = most === 0 ? piece.length : most;
    for (let at = 0; at < piece.length && !to.destroyed; at += size) {
      if (most > 0) await sleep(drip.everyMs);
      if (!to.write(piece.subarray(at, at + size)) && !to.destroyed)
        await Promise.race([once(to, 'drain'), once(to, 'close')]);
    }
  }

  #cut({ client, server }: Link, how: Cut): void {
    end(client, how);
    end(server, how);
  }
}

/** An orderly end, and no more is taken; or a reset, unless its end is on the way: Node would then lose the handle. */
function end(socket: Socket, how: Cut): void {
  if (how === 'end') socket.end(() => socket.destroySoon());
  else if (socket.writable && !socket.connecting) socket.resetAndDestroy();
  else socket.destroy();
}
