import type { Repeatable, SendOptions } from '../upstream/carrier.ts';

/** Methods that may be sent again (RFC 9110 §9.2.2, and the registry's safe ones). */
const IDEMPOTENT = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
  'QUERY',
  'PROPFIND',
  'REPORT',
  'SEARCH',
]);

/** A request that the upstream has ignored is sent again this often: an upstream that refuses each is unavailable. */
const MOST_UNSEEN = 3;

/** The properties of a request that decide whether it may be sent again. */
export interface Sendable {
  readonly method: string;
  /** Undefined where it has no body. */
  readonly body: { readonly replayable: boolean } | undefined;
}

/** The request may be sent again even where the upstream may have seen it. */
export function isRepeatable({ method, body }: Sendable): boolean {
  return body === undefined && IDEMPOTENT.has(method);
}

/** Counts how often one request has been sent again, and decides whether, and on what, it is sent once more. */
export class Repeats {
  #retried = false;
  #unseen = 0;
  #http1 = false;

  /**
   * Counts a failure. A request that has gone back to HTTP/1.1 stays there.
   *
   * @returns what the request is sent on next; undefined where it may not be sent again
   */
  next(repeatable: Repeatable, sendable: Sendable): Pick<SendOptions, 'fresh' | 'http1'> | undefined {
    switch (repeatable) {
      case 'no':
        return undefined;
      case 'stale':
        // A used connection ended before any answer. It was probably closed before the request came; since the request
        // may have been seen, only an idempotent one without a body is sent again.
        if (this.#retried || !isRepeatable(sendable)) return undefined;
        this.#retried = true;
        return { fresh: true, http1: this.#http1 };
      default:
        if (this.#unseen++ >= MOST_UNSEEN || sendable.body?.replayable === false) return undefined;
        if (repeatable === 'http1') this.#http1 = true;
        // A request that was refused twice goes first on a connection of its own.
        return { fresh: this.#unseen > 1, http1: this.#http1 };
    }
  }

  /** For an attempt that follows no such failure. */
  get http1(): boolean {
    return this.#http1;
  }
}
