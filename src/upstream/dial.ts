import { ADDRCONFIG, type LookupAddress, lookup } from 'node:dns';
import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import type { ConnectionTimes } from '../base/journey.ts';
import { onAbort } from './on-abort.ts';

/** Finds the addresses of a name. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true; readonly hints: number },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

export const systemLookup: Lookup = lookup;

/** RFC 8305 §5: what an address gets before the next one is tried beside it. */
const ATTEMPT_DELAY_MS = 250;

export interface Destination {
  readonly host: string;
  readonly port: number;
  /** What the connection reads into; Node has it told by that, and not by `data`. */
  readonly onread?: OnReadOpts;
}

export interface Search {
  readonly signal: AbortSignal;
  /** To be filled in. */
  readonly times?: ConnectionTimes;
}

const SOCKET_OPTIONS = {
  highWaterMark: 64 * 1024,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  autoSelectFamily: false,
};

/**
 * A TCP connection to the address of a host that answers first (RFC 8305). The next address is tried as soon as one
 * has failed or has been silent for a while, and none is given up for being slow: Node's own `autoSelectFamily` ends
 * an attempt when it begins the next, and the last one after as short a time.
 *
 * @param search its signal ends it, with its reason as the error
 */
export async function dial(to: Destination, find: Lookup, { signal, times }: Search): Promise<Socket> {
  const { host } = to;
  const family = isIP(host);
  const beganMonoMs = performance.now();
  const addresses = family === 0 ? await addressesOf(host, find, signal) : [{ address: host, family }];
  const foundMonoMs = performance.now();
  if (family === 0 && times !== undefined) times.dnsMs = foundMonoMs - beganMonoMs;
  const socket = await new Race(inTurns(addresses), to, signal).winner;
  if (times !== undefined) times.connectMs = performance.now() - foundMonoMs;
  return socket;
}

function addressesOf(host: string, find: Lookup, signal: AbortSignal): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    onAbort(signal, reject);
    find(host, { all: true, hints: ADDRCONFIG }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });
}

/** RFC 8305 §4: one of each family in turn, beginning with that of the first address. */
export function inTurns(addresses: readonly LookupAddress[]): LookupAddress[] {
  const isFirst = ({ family }: LookupAddress) => family === addresses[0]?.family;
  const first = addresses.filter(isFirst);
  const second = addresses.filter((address) => !isFirst(address));
  return Array.from({ length: Math.max(first.length, second.length) }, (_, i) => [first[i], second[i]])
    .flat()
    .filter((address) => address !== undefined);
}

class Race {
  readonly winner: Promise<Socket>;
  readonly #waiting: LookupAddress[];
  readonly #to: Destination;
  readonly #running = new Set<Socket>();
  readonly #errors: Error[] = [];
  readonly #settle: PromiseWithResolvers<Socket> = Promise.withResolvers();
  #patience: NodeJS.Timeout | undefined;
  #over = false;

  constructor(addresses: LookupAddress[], to: Destination, signal: AbortSignal) {
    this.#waiting = addresses;
    this.#to = to;
    this.winner = this.#settle.promise;
    this.#next();
    onAbort(signal, (reason) => this.#lose(reason));
  }

  #next(): void {
    clearTimeout(this.#patience);
    const address = this.#waiting.shift()?.address;
    if (address !== undefined) this.#try(address);
    else if (this.#running.size === 0) this.#lose(oneOf(this.#errors));
    if (this.#waiting.length > 0) this.#patience = setTimeout(() => this.#next(), ATTEMPT_DELAY_MS);
  }

  #try(host: string): void {
    const socket = connect({ ...SOCKET_OPTIONS, ...this.#to, host });
    this.#running.add(socket);
    socket
      .once('connect', () => this.#win(socket))
      // It stays on the winner, too: an error must find a listener before the next owner has put one there.
      .on('error', (error) => {
        if (this.#over) return;
        this.#running.delete(socket);
        this.#errors.push(error);
        this.#next();
      });
  }

  #win(socket: Socket): void {
    this.#running.delete(socket);
    this.#end();
    this.#settle.resolve(socket);
  }

  #lose(reason: unknown): void {
    this.#end();
    this.#settle.reject(reason);
  }

  #end(): void {
    this.#over = true;
    clearTimeout(this.#patience);
    this.#waiting.length = 0;
    for (const socket of this.#running) socket.destroy();
    this.#running.clear();
  }
}

/** With the code of the first one, which is that of the address that is preferred. */
function oneOf(errors: readonly Error[]): Error {
  const [first] = errors;
  if (first === undefined) return Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
  if (errors.length === 1) return first;
  const { code } = first as NodeJS.ErrnoException;
  return Object.assign(new AggregateError(errors, 'no address can be reached'), { code });
}
