import { isLoopbackHost } from '../config/values/addresses.ts';
import { readPath } from './path.ts';

/** Where the session endpoint is. */
export interface SessionPlace {
  readonly origin: string;
  readonly basePath: string;
  /** The path for clients, without the base path. */
  readonly path: string;
}

/**
 * Closes the session path and all paths that begin with it. A client that could log in through the proxy could also guess
 * passwords, or get a token of its own.
 */
export class ClosedSessionPath {
  readonly #asked: readonly string[];
  readonly #sent: readonly string[];
  readonly #server: string;

  constructor({ origin, basePath, path }: SessionPlace) {
    this.#asked = readingsOf(path);
    this.#sent = readingsOf(basePath + path);
    this.#server = serverOf(origin);
  }

  /** True if a path that a client asks for is closed in one of its readings. */
  closes(readings: readonly string[]): boolean {
    return readings.some((reading) => this.#asked.some((closed) => reading.startsWith(closed)));
  }

  /** What closed paths begin with, as clients ask for them. */
  get beginnings(): readonly string[] {
    return this.#asked;
  }

  /** The same for paths that a route maps to the session endpoint. */
  beginningsOn({ prefix, upstreamPrefix }: { prefix: string; upstreamPrefix: string }): readonly string[] {
    const asked = prefix === '/' ? '' : prefix;
    const sent = upstreamPrefix.toLowerCase();
    return this.#sent.flatMap((closed) => {
      if (closed.startsWith(sent)) return [asked + closed.slice(sent.length)];
      return sent.startsWith(closed) ? [prefix] : [];
    });
  }

  /** True if the origin leads to the server of the session endpoint. */
  isAt(origin: string): boolean {
    return serverOf(origin) === this.#server;
  }

  /** True if a path that is sent to this server leads to the session endpoint. */
  reaches(upstreamPath: string): boolean {
    const reading = readPath(upstreamPath);
    return (
      !reading.ok || reading.readings.some((sent) => this.#sent.some((closed) => sent.startsWith(closed)))
    );
  }
}

function readingsOf(path: string): readonly string[] {
  const reading = readPath(path);
  return reading.ok ? reading.readings : [path.toLowerCase()];
}

/** The server of an origin. The same for all loopback names, with a final dot, and for both schemes at the usual ports. */
function serverOf(origin: string): string {
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/\.$/, '');
  return `${isLoopbackHost(host) ? 'localhost' : host}:${port}`;
}
