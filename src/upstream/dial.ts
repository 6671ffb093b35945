import { ADDRCONFIG, type LookupAddress, lookup } from 'node:dns';
import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import type { ConnectionTimes } from '../base/journey.ts';
import { isLoopbackAddress } from '../config/values/addresses.ts';
import { onAbort } from './on-abort.ts';

/** Finds the addresses of a host name. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true; readonly hints: number },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

export const systemLookup: Lookup = lookup;

/** Drops all addresses that are not loopback. If none is left, the code of the error is ERR_NOT_LOOPBACK. */
export function onlyLoopback(find: Lookup): Lookup {
  return (hostname, options, callback) =>
    find(hostname, options, (error, addresses) => {
      if (error !== null || addresses.length === 0) return callback(error, addresses);
      const own = addresses.filter(({ address }) => isLoopbackAddress(address));
      if (own.length > 0) return callback(null, own);
      callback(Object.assign(new Error('it leads to another machine'), { code: 'ERR_NOT_LOOPBACK' }), own);
    });
}

/** RFC 8305 §5: how long an attempt runs before the next address is tried beside it. */
const ATTEMPT_DELAY_MS = 250;

interface Destination {
  readonly host: string;
  readonly port: number;
  /** The socket reads into this buffer and calls back; it then emits no `data`. */
  readonly onread?: OnReadOpts;
}

interface Search {
  readonly signal: AbortSignal;
  /** `dial` fills in the times. */
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
 * Connects to the address of a host that answers first (RFC 8305). The next address is tried when an attempt fails, or
 * does not end within the delay. A slow attempt goes on: Node's own `autoSelectFamily` ends an attempt when it
 * begins the next, and gives the last one no more time than the others.
 *
 * @param search its signal ends the attempt; its reason is the error
 */
export async function dial(to: Destination, find: Lookup, { signal, times }: Search): Promise<Socket> {
  const { host } = to;
  const family = isIP(host);
  const beganMonoMs = performance.now();
  const addresses = family === 0 ? await addressesOf(host, find, signal) : [{ address: host, family }];
  const foundMonoMs = performance.now();
  if (family === 0 && times !== undefined && addresses.length > 0) times.dnsMs = foundMonoMs - beganMonoMs;
  const race = new Race(inTurns(addresses), to, signal);
  const socket = await race.winner;
  if (times !== undefined) {
    times.connectMs = performance.now() - foundMonoMs;
    times.lostAddress = race.lost;
  }
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

/** RFC 8305 §4: the families take turns, beginning with the family of the first address. */
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
  /** Why an address before the winner gave no connection: the system's code, or `silent`. */
  lost: string | undefined;
  readonly #waiting: LookupAddress[];
  readonly #to: Destination;
  readonly #running = new Set<Socket>();
  readonly #errors: NodeJS.ErrnoException[] = [];
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
      // The listener stays on the winner, so that an error has a listener until the caller adds its own.
      .on('error', (error) => {
        if (this.#over) return;
        this.#running.delete(socket);
        this.#errors.push(error);
        this.#next();
      });
  }

  #win(socket: Socket): void {
    this.#running.delete(socket);
    this.lost = this.#errors[0]?.code ?? (this.#running.size > 0 ? 'silent' : undefined);
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

/** Has the code of the first error, which belongs to the preferred address. */
function oneOf(errors: readonly NodeJS.ErrnoException[]): Error {
  const [first] = errors;
  if (first === undefined) return Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
  if (errors.length === 1) return first;
  return Object.assign(new AggregateError(errors, 'no address can be reached'), { code: first.code });
}
