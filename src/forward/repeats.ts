import type { Repeatable, SendOptions } from '../upstream/carrier.ts';

/** Idempotent methods (RFC 9110 §9.2.2, and the safe ones of the IANA method registry). */
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

/** A request that the upstream has ignored is sent again this many times; after that the upstream is unavailable. */
const MAX_UNSEEN = 3;

/** What decides whether a request may be sent again. */
interface Sendable {
  readonly method: string;
  /** Undefined if the request has no body. */
  readonly body: { readonly replayable: boolean } | undefined;
}

/** True if the request may be sent again even though the upstream may have acted on it. */
export function isRepeatable({ method, body }: Sendable): boolean {
  return body === undefined && IDEMPOTENT.has(method);
}

/** Counts how often a request has been sent again, and decides whether and how it is sent once more. */
export class Repeats {
  #retried = false;
  #unseen = 0;
  #http1 = false;

  /**
   * Counts a failure. A request that has fallen back to HTTP/1.1 stays with it.
   *
   * @returns how the request is sent next; undefined if it may not be sent again
   */
  next(repeatable: Repeatable, sendable: Sendable): Pick<SendOptions, 'fresh' | 'http1'> | undefined {
    switch (repeatable) {
      case 'no':
        return undefined;
      case 'stale':
        // A used connection ended before any answer. The upstream probably closed it before the request came, but may
        // have seen the request: so only an idempotent one without a body is sent again.
        if (this.#retried || !isRepeatable(sendable)) return undefined;
        this.#retried = true;
        return { fresh: true, http1: this.#http1 };
      default:
        if (this.#unseen++ >= MAX_UNSEEN || sendable.body?.replayable === false) return undefined;
        if (repeatable === 'http1') this.#http1 = true;
        // After the second refusal the request takes a new connection.
        return { fresh: this.#unseen > 1, http1: this.#http1 };
    }
  }

  /** The request has fallen back to HTTP/1.1; a replay after a 401 keeps to it, too. */
  get http1(): boolean {
    return this.#http1;
  }
}
