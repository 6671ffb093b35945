import { isLoopbackHost } from '../config/values/addresses.ts';
import { readPath } from './path.ts';

/** Where the session endpoint is. */
export interface SessionPlace {
  readonly origin: string;
  readonly basePath: string;
  /** As a client would ask for it, without the base path. */
  readonly path: string;
}

/**
 * Never forwards the session path, or a path that begins with it: a client that could log in through the proxy, or guess
 * passwords through it, would have more than the proxy is meant to give.
 */
export class SessionClosure {
  readonly #asked: readonly string[];
  readonly #sent: readonly string[];
  readonly #server: string;

  constructor({ origin, basePath, path }: SessionPlace) {
    this.#asked = readingsOf(path);
    this.#sent = readingsOf(basePath + path);
    this.#server = serverOf(origin);
  }

  /** True where a path that a client asks for is closed, by any of its readings. */
  closes(readings: readonly string[]): boolean {
    return readings.some((reading) => this.#asked.some((closed) => reading.startsWith(closed)));
  }

  /** What closed paths begin with, as a client asks for them. */
  get beginnings(): readonly string[] {
    return this.#asked;
  }

  /** The same for paths that a route maps to the session endpoint by another name. */
  beginningsOn({ prefix, upstreamPrefix }: { prefix: string; upstreamPrefix: string }): readonly string[] {
    const asked = prefix === '/' ? '' : prefix;
    const sent = upstreamPrefix.toLowerCase();
    return this.#sent.flatMap((closed) => {
      if (closed.startsWith(sent)) return [asked + closed.slice(sent.length)];
      return sent.startsWith(closed) ? [prefix] : [];
    });
  }

  /** True for an origin that leads to the server of the session endpoint. */
  isAt(origin: string): boolean {
    return serverOf(origin) === this.#server;
  }

  /** True where a path that would be sent there ends up at the session endpoint, whatever it is called here. */
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

/** Origins that lead to one server: with or without TLS at the usual ports, by any loopback name, with a final dot. */
function serverOf(origin: string): string {
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/\.$/, '');
  return `${isLoopbackHost(host) ? 'localhost' : host}:${port}`;
}
