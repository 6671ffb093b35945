import type { Journey, TokenState } from './journey.ts';
import type { LoginError } from './login-error.ts';
import type { ProblemCode } from './problem.ts';

/**
 * What happens in bearerd. The folders that do the work neither log nor count: they emit events, from which `observe/`
 * makes log lines, metrics and the page.
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
      /** The token is from another instance's login. */
      readonly taken?: true;
    }
  | {
      readonly type: 'login-failed';
      readonly credential: string;
      readonly state: TokenState;
      readonly durationMs: number;
      readonly error: LoginError;
      readonly nextTryInMs: number;
      /** There is still a usable token. */
      readonly usable: boolean;
    }
  | {
      readonly type: 'token-expired' | 'token-rejected';
      readonly credential: string;
      readonly state: TokenState;
      readonly fingerprint: string;
      /** Until the next login begins; 0 if it begins now, or runs. */
      readonly nextTryInMs: number;
    }
  /** The upstream answered 401 to a token that had just come from a login. */
  | {
      readonly type: 'new-token-rejected';
      readonly credential: string;
      readonly state: TokenState;
      readonly fingerprint: string;
    }
  | RequestEvent
  | {
      readonly type: 'upstream-failed';
      readonly code: ProblemCode;
      readonly route: string;
      /** The client's problem has the same text. `remedy` says what to do about it. */
      readonly detail: string;
      readonly remedy: string | undefined;
      readonly cause: unknown;
    }
  /** A setting that is valid but probably a mistake. Emitted at the start and after a reload. */
  | { readonly type: 'doubtful-setting'; readonly key: string; readonly problem: string }
  | { readonly type: 'reloaded'; readonly by: string; readonly restartNeededFor: readonly string[] }
  | { readonly type: 'reload-refused'; readonly by: string; readonly reason: string }
  | { readonly type: 'secret-trouble'; readonly path: string; readonly reason: string }
  /** After `secret-trouble`: the file can be read again, whatever it holds. */
  | { readonly type: 'secret-usable'; readonly path: string }
  /** A Unix socket's file was there, and nothing listened on it: the process before was killed. */
  | { readonly type: 'socket-replaced'; readonly path: string }
  | CountedEvent
  /** The engine through which instances share tokens can be reached, or not. */
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
  /** bearerd is not ready from now on, but still accepts requests for `delayMs`. */
  | { readonly type: 'stop-announced'; readonly signal: string; readonly delayMs: number }
  /** A sink now holds the present credential, or none any more. */
  | { readonly type: 'sink-written'; readonly sink: string }
  | { readonly type: 'sink-failed'; readonly sink: string; readonly code: string; readonly again: boolean }
  | { readonly type: 'draining'; readonly signal: string; readonly inFlight: number }
  | { readonly type: 'stopped'; readonly cut: number }
  | { readonly type: 'internal-error'; readonly where: string; readonly cause: unknown }
  | {
      readonly type: 'traces-lost';
      readonly collector: string;
      /** A part of a sentence whose subject is the collector. */
      readonly why: string;
    }
  | { readonly type: 'traces-resumed'; readonly collector: string };

/** A request's IDs in a tracing system: hexadecimal digits. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** An operation on the engine through which instances share tokens. */
export type ShareOperation = 'look' | 'lock' | 'publish' | 'hold' | 'retire';

/** An event that is counted but not logged. */
export type CountedEvent =
  | {
      readonly type: 'share-operation';
      readonly op: ShareOperation;
      /** The engine's answer in one word; `gone` if there was none. */
      readonly result: string;
    }
  /** A command that gives a secret has run. If it failed, a `doubtful-setting` is emitted, too. */
  | { readonly type: 'secret-command'; readonly key: string; readonly result: 'ok' | 'failed' };

export function isCounted(event: Event): event is CountedEvent {
  return event.type === 'share-operation' || event.type === 'secret-command';
}

/** One request; emitted when it ends. The folders that the request passes fill this one object. */
export interface RequestEvent extends Journey {
  readonly type: 'request';
  requestId: string;
  /** The header in which the upstream and the client get the ID, in lower case; undefined if none is configured. */
  requestIdHeader: string | undefined;
  readonly method: string;
  /** Without the query, whose values may be secrets. */
  path: string;
  /** The name of the chosen route: its prefix, or `//HOST/PREFIX`. Empty if there is none. */
  route: string;
  credential: string;
  /** The name of the caller whose key the request had; empty for a key without a name. */
  caller?: string;
  status: number;
  /** Set if bearerd answered itself, or broke the upstream's answer off (`brokeOff`). */
  code: ProblemCode | undefined;
  readonly startedMonoMs: number;
  durationMs: number;
  bytesIn: number;
  bytesOut: number;
  /** The client closed the connection before the answer was complete. */
  aborted: boolean;
  /** Set if requests are traced. */
  trace?: TraceIds;
  /** A credential in the answer was replaced by asterisks. */
  scrubbed?: true;
  /** Which limit the request exceeded; only with `rate-limited`. */
  limitedBy?: 'route' | 'caller';
  /** Why bearerd closed a tunnel, or an answer that the client did not read. */
  closedBy?: 'token-expiry' | 'idle-timeout';
}

export type Observe = (event: Event) => void;

/** Passes each event to its observers: log, metrics, page. */
export class EventBus {
  readonly #observers: Observe[];

  constructor(...observers: Observe[]) {
    this.#observers = observers;
  }

  subscribe(observe: Observe): void {
    this.#observers.push(observe);
  }

  readonly emit: Observe = (event) => {
    for (const observe of this.#observers) {
      try {
        observe(event);
      } catch {
        // A failing observer must not stop the work. An event about the failure would reach the same observer.
      }
    }
  };
}
