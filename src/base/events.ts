import type { Journey, TokenState } from './journey.ts';
import type { LoginError } from './login-error.ts';
import type { ProblemCode } from './problem.ts';

/**
 * What happens, for log, metrics and page. The folders that do the work neither log nor count: they emit events, of which
 * `observe/` makes lines, numbers and a page.
 */
export type Event =
  | {
      readonly type: 'login-succeeded';
      readonly credential: string;
      readonly state: TokenState;
      readonly durationMs: number;
      readonly fingerprint: string;
      readonly lifetimeMs: number;
      readonly renewInMs: number;
      readonly warnings: readonly string[];
      /** Another instance has logged in; this is its token. */
      readonly taken?: true;
    }
  | {
      readonly type: 'login-failed';
      readonly credential: string;
      readonly state: TokenState;
      readonly durationMs: number;
      readonly error: LoginError;
      readonly nextTryInMs: number;
      /** A token is still at hand. */
      readonly usable: boolean;
    }
  | {
      readonly type: 'token-expired' | 'token-rejected';
      readonly credential: string;
      readonly state: TokenState;
      readonly fingerprint: string;
    }
  | RequestEvent
  | {
      readonly type: 'upstream-failed';
      readonly code: ProblemCode;
      readonly route: string;
      /** The client's answer says the same; `remedy` says what to do about it. */
      readonly detail: string;
      readonly remedy: string | undefined;
      readonly cause: unknown;
    }
  /** A setting that works and is probably a mistake: at the start, and after a reload. */
  | { readonly type: 'doubtful-setting'; readonly key: string; readonly problem: string }
  | { readonly type: 'reloaded'; readonly by: string; readonly restartNeededFor: readonly string[] }
  | { readonly type: 'reload-refused'; readonly by: string; readonly reason: string }
  | { readonly type: 'secret-trouble'; readonly path: string; readonly reason: string }
  | CountedEvent
  /** Whether the engine through which instances share tokens can be reached. */
  | { readonly type: 'share-state'; readonly state: 'ready' }
  | {
      readonly type: 'share-state';
      readonly state: 'gone';
      /** A code. */
      readonly reason: string;
      /** Which server, and what is wrong with it. */
      readonly detail: string;
      readonly remedy: string;
    }
  /** Not ready from now on, while requests are still taken for `delayMs`. */
  | { readonly type: 'stop-announced'; readonly signal: string; readonly delayMs: number }
  /** A place outside of this process now holds the credential, or no longer holds one. */
  | { readonly type: 'sink-written'; readonly sink: string }
  | { readonly type: 'sink-failed'; readonly sink: string; readonly code: string; readonly again: boolean }
  | { readonly type: 'draining'; readonly signal: string; readonly inFlight: number }
  | { readonly type: 'stopped'; readonly cut: number }
  | { readonly type: 'internal-error'; readonly where: string; readonly cause: unknown }
  | {
      readonly type: 'traces-lost';
      readonly collector: string;
      /** Its subject is the collector. */
      readonly why: string;
    }
  | { readonly type: 'traces-resumed'; readonly collector: string };

/** A request's IDs in a tracing system: hexadecimal digits. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** What an instance asks of the engine through which tokens are shared. */
export type ShareOperation = 'look' | 'lock' | 'publish' | 'hold' | 'retire';

/** Counted, and not logged. */
export type CountedEvent =
  | {
      readonly type: 'share-operation';
      readonly op: ShareOperation;
      /** The engine's answer in one word; `gone` if none came. */
      readonly result: string;
    }
  /** A command that a secret comes from has run; a failure is a doubtful setting, too. */
  | { readonly type: 'secret-command'; readonly key: string; readonly result: 'ok' | 'failed' };

export function isCounted(event: Event): event is CountedEvent {
  return event.type === 'share-operation' || event.type === 'secret-command';
}

/** One request, emitted when it ends. Each request has one object, which its stages fill. */
export interface RequestEvent extends Journey {
  readonly type: 'request';
  requestId: string;
  /** The header that gives the ID to both sides, in lower case; undefined for none. */
  requestIdHeader: string | undefined;
  readonly method: string;
  /** Without the query: its values may be secrets. */
  path: string;
  /** The chosen route's name: its prefix, or `//HOST/PREFIX`. Empty for none. */
  route: string;
  credential: string;
  /** The name of the caller whose key the request held; empty for the key without a name. */
  caller?: string;
  status: number;
  /** Set if bearerd answered itself. */
  code: ProblemCode | undefined;
  readonly startedMonoMs: number;
  durationMs: number;
  bytesIn: number;
  bytesOut: number;
  /** The client was gone before the answer was complete. */
  aborted: boolean;
  /** Set if requests are traced. */
  trace?: TraceIds;
  /** A credential was struck out of the answer. */
  scrubbed?: true;
  /** Whose limit the request exceeded: only with `rate-limited`. */
  limitedBy?: 'route' | 'caller';
  /** Why bearerd ended a tunnel, or an answer that the client did not read. */
  closedBy?: 'token-expiry' | 'idle-timeout';
}

export type Observe = (event: Event) => void;

/** Passes each event to its observers: the log, the metrics, the status page. */
export class EventBus {
  readonly #observers: Observe[];

  constructor(...observers: Observe[]) {
    this.#observers = observers;
  }

  subscribe(observe: Observe): void {
    this.#observers.push(observe);
  }

  readonly tell: Observe = (event) => {
    for (const observe of this.#observers) {
      try {
        observe(event);
      } catch {
        // A failing observer must not stop the work; an event about it would reach the same observer.
      }
    }
  };
}
