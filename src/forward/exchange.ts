import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { type AccessToken, isUsable } from '../credentials/access-token.ts';
import { Problem } from '../errors.ts';
import type { Observe, RequestEvent } from '../events.ts';
import type { Route } from '../routes/route-table.ts';
import { Attempt } from './attempt.ts';
import { RequestBody } from './request-body.ts';
import type { RequestHead } from './request-head.ts';
import { requestHeaders } from './request-headers.ts';
import { responseHead } from './response-headers.ts';
import { upstreamProblem } from './upstream-error.ts';
import type { UpstreamPool } from './upstream-pool.ts';
import type { Watchdog, Watched } from './watchdog.ts';

/** What every exchange of one process shares. */
export interface ForwardContext {
  readonly clock: Clock;
  readonly observe: Observe;
  readonly watchdog: Watchdog;
  /** `1.1 bearerd (id)`: names this process, so that it recognises a request that comes back. */
  readonly via: string;
  /** Writes a problem as the answer. */
  readonly explain: (
    response: ServerResponse,
    problem: Problem,
    corsOrigin: string | undefined,
    event: RequestEvent,
  ) => void;
  /** The process is stopping: connections are not kept. */
  readonly draining: () => boolean;
}

/** A request that may be forwarded, and all that was found out about it on the way. */
export interface Forwardable {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: RequestHead;
  readonly route: Route;
  readonly pool: UpstreamPool;
  /** Path and query for the upstream. */
  readonly target: string;
  readonly corsOrigin: string | undefined;
  readonly dropCookies: boolean;
  readonly event: RequestEvent;
}

/** Methods that may be sent again (RFC 9110 §9.2.2, and the registry's safe ones). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY', 'PROPFIND', 'REPORT', 'SEARCH']);

/** One request and its answer: from the token to the last byte, or to the problem that explains why not. */
export class Exchange implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  attempt: Attempt | undefined;
  readonly clock: Clock;
  readonly #context: ForwardContext;
  readonly #f: Forwardable;
  readonly #body: RequestBody | undefined;
  /** Ends a wait for a token when the client leaves; there only while one waits. */
  #waiting: AbortController | undefined;
  #replayed = false;
  #retried = false;
  #closed = false;
  /** The answer's end can be told from its beginning; without it, only the connection's end tells. */
  #framed = true;
  #bodyBegun = false;

  constructor(context: ForwardContext, forwardable: Forwardable) {
    this.#context = context;
    this.clock = context.clock;
    this.#f = forwardable;
    const { request, head } = forwardable;
    this.#body = head.hasBody ? new RequestBody(request, head.contentLength, () => this.#bodyMoved()) : undefined;
  }

  start(): void {
    const { response, head } = this.#f;
    response.sendDate = false; // The upstream's Date passes; where it gives none, we make none up.
    response.on('close', () => this.#clientClosed());
    response.on('drain', () => this.attempt?.controller?.resume());
    this.#context.watchdog.add(this);
    // Answered before a token is waited for: a client that gets nothing within a second sends its body anyway.
    if (head.expectContinue) response.writeContinue();
    if (this.#body === undefined) this.#authorize();
    else this.#body.prefetch(() => this.#authorize());
  }

  /** Everything from the token on once more; nothing of the request has been sent. */
  restart(): void {
    this.attempt = undefined;
    this.#authorize();
  }

  #authorize(): void {
    if (this.#closed) return;
    const { credential } = this.#f.route;
    if (credential?.kind !== 'token' || this.#keepsClientCredential()) return this.#dispatch(undefined);
    const token = credential.source.current();
    if (token !== undefined) return this.#dispatch(token);
    this.deadlineMonoMs = Number.POSITIVE_INFINITY; // The wait has a limit of its own.
    this.#waiting = new AbortController();
    credential.source.wait(this.#waiting.signal).then(
      (fresh) => this.#dispatch(fresh),
      (reason: unknown) => this.#answer(reason instanceof Problem ? reason : new Problem('token-unavailable')),
    );
  }

  #dispatch(token: AccessToken | undefined, fresh = false): void {
    if (this.#closed) return;
    const { request, route, pool, target, dropCookies } = this.#f;
    const credential = this.#keepsClientCredential() ? undefined : route.credential;
    const value = credential?.kind === 'api-key' ? credential.headerValue : token?.headerValue;
    const options: Dispatcher.DispatchOptions = {
      path: target,
      method: request.method as Dispatcher.HttpMethod,
      headers: requestHeaders(request.rawHeaders, {
        credential: credential === undefined || value === undefined ? undefined : { header: credential.header, value },
        keepClientCredential: route.clientAuthorization === 'keep',
        credentialHeader: route.credentialHeader,
        dropCookies,
        via: this.#context.via,
      }),
      body: this.#body?.open() ?? null,
    };
    // undici would give up the connection after a body on a method that needs none.
    if (this.#body !== undefined) options.reset = false;
    this.attempt = new Attempt(this, token);
    if (fresh) pool.dispatchFresh(options, this.attempt);
    else pool.dispatch(options, this.attempt);
  }

  #keepsClientCredential(): boolean {
    return this.#f.route.clientAuthorization === 'keep' && this.#f.head.authorizationLines > 0;
  }

  requestStarted(): void {
    const { timeouts } = this.#f.route;
    this.#limit(this.#body === undefined || this.#body.complete ? timeouts.responseMs : timeouts.idleMs);
  }

  #bodyMoved(): void {
    this.#f.event.bytesIn = this.#body!.bytes;
    if (this.attempt?.controller === undefined) return;
    const { timeouts } = this.#f.route;
    if (this.#f.response.headersSent) this.#limit(timeouts.idleMs);
    else this.#limit(this.#body!.complete ? timeouts.responseMs : timeouts.idleMs);
  }

  #limit(ms: number): void {
    this.deadlineMonoMs = ms === 0 ? Number.POSITIVE_INFINITY : this.clock.monoMs() + ms;
  }

  responseStarted(attempt: Attempt, status: number, message: string, raw: readonly Buffer[]): void {
    if (status > 599) {
      return this.#abandon(new Problem('upstream-invalid', { cause: new Error(`status ${status}`) }));
    }
    const second = status === 401 ? this.#secondChance(attempt) : undefined;
    if (second === undefined) return this.#passHead(status, message, raw);
    if (!(second instanceof Promise)) return this.#replay(second);
    attempt.controller!.pause();
    this.deadlineMonoMs = Number.POSITIVE_INFINITY; // A login has a limit of its own.
    void second.then((token) => {
      if (this.#closed || this.attempt !== attempt) return;
      if (token !== undefined && isUsable(token, this.clock)) this.#replay(token);
      else this.#passHead(status, message, raw);
      attempt.controller!.resume();
    });
  }

  /** What a request whose token was rejected may be sent once more with, if it may. */
  #secondChance(attempt: Attempt): AccessToken | Promise<AccessToken | undefined> | undefined {
    const { credential } = this.#f.route;
    if (credential?.kind !== 'token' || attempt.token === undefined || this.#replayed) return undefined;
    // Told in any case: the token is dead for the next request, too.
    const second = credential.source.rejected(attempt.token);
    return this.#body === undefined || this.#body.replayable ? second : undefined;
  }

  #replay(token: AccessToken): void {
    this.#replayed = true;
    this.#dispatch(token);
  }

  #passHead(status: number, message: string, raw: readonly Buffer[]): void {
    const { response, request, route, dropCookies, corsOrigin, event } = this.#f;
    const { headers, framed } = responseHead(raw, status, { route, dropCookies, corsOrigin });
    this.#framed = framed || request.method === 'HEAD' || status === 204 || status === 304;
    if (this.#context.draining()) response.shouldKeepAlive = false;
    try {
      response.writeHead(status, reasonPhrase(message), headers);
    } catch (error) {
      return this.#abandon(new Problem('upstream-invalid', { cause: error }));
    }
    event.status = status;
    this.#limit(route.timeouts.idleMs);
    // The head must not wait for a body that may be long in coming (events, a long poll).
    process.nextTick(() => {
      // An empty string of this encoding; `flushHeaders` would write the header bytes as UTF-8.
      if (!this.#bodyBegun && !response.writableEnded && !this.#closed) response.write('', 'latin1');
    });
  }

  responseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { response, event, route } = this.#f;
    this.#bodyBegun = true;
    event.bytesOut += chunk.length;
    this.#limit(route.timeouts.idleMs);
    if (!response.write(chunk)) controller.pause();
  }

  responseEnded(attempt: Attempt): void {
    // A reset in a body that only the connection's end delimits: undici takes it for the end.
    if (!this.#framed && attempt.connection?.peerReset) return this.#breakOff();
    this.attempt = undefined;
    this.#f.response.end();
  }

  failed(attempt: Attempt, error: Error): void {
    const { response, route, request, event } = this.#f;
    const peerGone = attempt.connection?.peerGone ?? false;
    const untouched = attempt.reused && peerGone && !attempt.responseBegun && this.#body === undefined;
    if (untouched && !this.#retried && IDEMPOTENT.has(request.method!)) {
      // The upstream had closed this idle connection before the request came: nobody has seen it.
      this.#retried = true;
      this.attempt = undefined;
      return this.#dispatch(attempt.token, true);
    }
    const problem = upstreamProblem(error, { peerGone, responseBegun: attempt.responseBegun });
    this.#context.observe({ type: 'upstream-failed', code: problem.code, route: route.prefix, cause: error });
    this.attempt = undefined;
    if (!response.headersSent) return this.#answer(problem);
    event.code = problem.code;
    this.#breakOff();
  }

  /** The watchdog's call: a limit has passed. */
  expire(): void {
    const { response, route } = this.#f;
    this.deadlineMonoMs = Number.POSITIVE_INFINITY;
    const stalledByClient = this.#body !== undefined && !this.#body.complete && !this.#body.heldUp;
    const code = !response.headersSent && stalledByClient ? 'request-timeout' : 'upstream-timeout';
    const problem = new Problem(code);
    this.#context.observe({ type: 'upstream-failed', code, route: route.prefix, cause: undefined });
    this.#abandon(problem);
  }

  /** Gives the upstream up and tells the client. */
  #abandon(problem: Problem): void {
    const attempt = this.attempt;
    this.attempt = undefined;
    attempt?.controller?.abort(problem);
    if (this.#f.response.headersSent) this.#breakOff();
    else this.#answer(problem);
  }

  #answer(problem: Problem): void {
    const { response, event, corsOrigin } = this.#f;
    if (this.#closed || response.headersSent) return;
    this.deadlineMonoMs = Number.POSITIVE_INFINITY;
    this.#context.explain(response, problem, corsOrigin, event);
  }

  /** The client has to see that the body is not whole: its connection ends where the body broke off. */
  #breakOff(): void {
    this.attempt = undefined;
    const { socket } = this.#f.response;
    // Where only the end of the connection ends the body, an orderly end would be a lie.
    if (this.#framed) socket?.destroySoon();
    else setImmediate(() => socket?.resetAndDestroy());
  }

  #clientClosed(): void {
    const { response, event } = this.#f;
    this.#closed = true;
    this.#context.watchdog.delete(this);
    const attempt = this.attempt;
    this.attempt = undefined;
    attempt?.controller?.abort(new Error('the client has left'));
    this.#waiting?.abort();
    event.aborted = !response.writableFinished;
    event.durationMs = this.clock.monoMs() - event.startedMonoMs;
    this.#context.observe(event);
  }
}

/** As bytes again; a phrase that no header line may hold (RFC 9112 §4) is left out. */
function reasonPhrase(message: string): string {
  const bytes = Buffer.from(message, 'utf8').toString('latin1');
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(bytes) ? bytes : '';
}
