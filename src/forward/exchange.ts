import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { type AccessToken, isUsable } from '../credentials/access-token.ts';
import { Problem } from '../errors.ts';
import { Attempt } from './attempt.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { HeldAnswer } from './held-answer.ts';
import { Reply } from './reply.ts';
import { RequestBody } from './request-body.ts';
import { headersUpstream } from './request-headers.ts';
import { RESET_CONTENT } from './response-headers.ts';
import { noToken, secondChance, tokenSource } from './token-use.ts';
import { upstreamProblem } from './upstream-error.ts';
import { deadline, type Watched } from './watchdog.ts';

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

/** How often, within the time that a client may take nothing, it is looked at. */
const CLIENT_LOOKS = 10;

/** One request and its answer: from the token to the last byte, or to the problem that explains why not. */
export class Exchange implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  memberAt = -1;
  attempt: Attempt | undefined;
  readonly clock: Clock;
  readonly #context: ForwardContext;
  readonly #f: Forwardable;
  readonly #body: RequestBody | undefined;
  readonly #reply: Reply;
  /** Ends a wait for a token when the client leaves; there only while one waits. */
  #waiting: AbortController | undefined;
  /** The attempt that got a 401, whose answer is read to its end and forgotten. */
  #rejected: Attempt | undefined;
  /** A 401 that is not passed on yet. */
  #held: HeldAnswer | undefined;
  #retried = false;
  #clientUntilMonoMs = 0;
  #hearsDrain = false;
  #closed = false;

  constructor(context: ForwardContext, forwardable: Forwardable) {
    this.#context = context;
    this.clock = context.clock;
    this.#f = forwardable;
    this.#reply = new Reply(context, forwardable);
    const { request, head } = forwardable;
    this.#body = head.hasBody
      ? new RequestBody(request, head.contentLength < 0, () => this.#bodyMoved())
      : undefined;
  }

  start(): void {
    const { response, request, head } = this.#f;
    response.sendDate = false; // The upstream's Date passes; where it gives none, we make none up.
    response.on('close', () => this.#clientClosed());
    this.#context.watchdog.add(this);
    // Answered before a token is waited for: a client that gets nothing within a second sends its body anyway.
    if (head.expectation === 'continue' && request.httpVersion === '1.1') response.writeContinue();
    if (this.#body === undefined) {
      this.#authorize();
    } else {
      // The listener finds that what follows the head is no body.
      request.once('malformed', (problem: Problem) => this.#abandon(problem));
      this.#limit(this.#f.route.timeouts.idleMs);
      this.#body.prefetch(() => this.#authorize());
    }
  }

  /** Everything from the token on once more; nothing of the request has been sent. */
  restart(): void {
    this.attempt = undefined;
    this.#authorize();
  }

  #authorize(): void {
    const source = tokenSource(this.#f);
    const token = source?.current();
    if (source === undefined || token !== undefined) {
      this.#dispatch(token);
    } else if (!this.#closed) {
      this.deadlineMonoMs = Number.POSITIVE_INFINITY; // The wait has a limit of its own.
      this.#waiting = new AbortController();
      source.wait(this.#waiting.signal).then(
        (fresh) => this.#dispatchIfHere(fresh),
        (reason) => this.#abandon(noToken(reason)),
      );
    }
  }

  /** After a wait: nothing goes upstream for a client that has left, even if nobody has read so far as to see it. */
  async #dispatchIfHere(token: AccessToken): Promise<void> {
    if (await this.#context.departures.isHere(this.#f.request)) this.#dispatch(token);
  }

  #dispatch(token: AccessToken | undefined, fresh = false): void {
    if (this.#closed || this.#reply.begun) return;
    const { request, pool, target } = this.#f;
    const options: Dispatcher.DispatchOptions = {
      path: target,
      method: request.method as Dispatcher.HttpMethod,
      headers: headersUpstream(this.#f, token, this.#context.via),
      body: this.#body?.open() ?? null,
    };
    this.deadlineMonoMs = Number.POSITIVE_INFINITY; // To connect has a limit of its own.
    // undici would give up the connection after a body on a method that needs none.
    if (this.#body !== undefined) options.reset = false;
    this.attempt = new Attempt(this, token);
    if (fresh) pool.dispatchFresh(options, this.attempt);
    else pool.dispatch(options, this.attempt);
  }

  requestStarted(): void {
    this.#body?.begin();
    const { timeouts } = this.#f.route;
    const whole = this.#body === undefined || this.#body.complete;
    this.#limit(whole && !this.#reply.begun ? timeouts.responseMs : timeouts.idleMs);
  }

  #bodyMoved(): void {
    const { event } = this.#f;
    this.#context.bytesPassed(this.#body!.bytes - event.bytesIn);
    event.bytesIn = this.#body!.bytes;
    if (this.attempt?.controller !== undefined) this.requestStarted();
  }

  responseStarted(attempt: Attempt, status: number, reason: string, raw: readonly string[]): void {
    const second = status === 401 ? this.#secondChance(attempt) : undefined;
    if (second === undefined) {
      this.#passHead(status, reason, raw);
    } else if (!(second instanceof Promise)) {
      this.#replay(attempt, second);
    } else {
      this.#held = new HeldAnswer(attempt, status, reason, raw);
      this.deadlineMonoMs = Number.POSITIVE_INFINITY; // A login has a limit of its own.
      void second.then((token) => this.#release(token));
    }
  }

  /** The new token is there, or there will be none. */
  #release(token: AccessToken | undefined): void {
    const held = this.#held;
    this.#held = undefined;
    if (this.#closed || held === undefined || this.attempt !== held.attempt) return;
    const { attempt, error } = held;
    if (token !== undefined && isUsable(token, this.clock)) {
      this.#replay(attempt, token);
    } else {
      this.#passHead(held.status, held.reason, held.raw);
      for (const chunk of held.body) this.responseData(attempt.controller!, chunk);
      if (held.ended) this.responseEnded(attempt);
      else if (error !== undefined) this.failed(attempt, error);
    }
    attempt.controller!.resume();
  }

  #secondChance(attempt: Attempt): ReturnType<typeof secondChance> {
    if (this.#rejected !== undefined) return undefined;
    // Told in any case: the token is dead for the next request, too.
    const second = secondChance(this.#f, attempt.token);
    return this.#body === undefined || this.#body.replayable ? second : undefined;
  }

  #replay(attempt: Attempt, token: AccessToken): void {
    this.#rejected = attempt;
    this.#dispatch(token);
  }

  #passHead(status: number, reason: string, raw: readonly string[]): void {
    const problem = this.#reply.begin(status, reason, raw);
    this.#limit(this.#f.route.timeouts.idleMs);
    if (problem !== undefined) this.#upstreamFailed(problem);
    // Its end would only come with the connection's.
    else if (status === RESET_CONTENT && !this.#reply.framed) this.#reply.end();
  }

  responseInvalid(status: number): void {
    this.#upstreamFailed(new Problem('upstream-invalid', { cause: new Error(`status ${status}`) }));
  }

  responseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#held !== undefined) {
      this.#held.keep(controller, chunk);
      return;
    }
    this.#limit(this.#f.route.timeouts.idleMs);
    this.#context.bytesPassed(chunk.length);
    if (this.#reply.write(chunk)) return;
    controller.pause();
    if (!this.#hearsDrain) {
      this.#hearsDrain = true;
      this.#f.response.on('drain', () => this.attempt?.controller?.resume());
    }
    this.#watchClient();
  }

  responseEnded(attempt: Attempt): void {
    if (this.#held !== undefined) {
      this.#held.ended = true;
      return;
    }
    this.attempt = undefined;
    // A reset in a body that only the connection's end delimits: undici takes it for the end.
    if (!this.#reply.framed && attempt.connection?.peerReset) this.#reply.breakOff();
    else this.#reply.end();
    this.#watchClient();
  }

  failed(attempt: Attempt, error: Error): void {
    if (this.#held !== undefined) {
      this.#held.error = error;
      return;
    }
    const peerGone = attempt.connection?.peerGone ?? false;
    const untouched = attempt.reused && peerGone && !attempt.responseBegun && this.#body === undefined;
    if (untouched && !this.#retried && IDEMPOTENT.has(this.#f.request.method!)) {
      // The upstream had closed this idle connection before the request came: nobody has seen it.
      this.#retried = true;
      this.#dispatch(attempt.token, true);
    } else {
      this.#upstreamFailed(upstreamProblem(error, { peerGone, responseBegun: attempt.responseBegun }));
    }
  }

  #upstreamFailed(problem: Problem): void {
    const { code, cause } = problem;
    this.#context.observe({ type: 'upstream-failed', code, route: this.#f.route.prefix, cause });
    this.#abandon(problem);
  }

  /** The watchdog's call: a limit has passed. */
  expire(): void {
    const { begun, over } = this.#reply;
    const waitsForClient = over || (begun && this.attempt?.controller?.paused === true);
    const waitsForBody = this.#body !== undefined && !this.#body.complete && !this.#body.heldUp;
    if (waitsForClient) this.#expireClient();
    else if (waitsForBody && !begun) this.#abandon(new Problem('request-timeout'));
    else this.#upstreamFailed(new Problem('upstream-timeout'));
  }

  /** It is the client's turn to take something; whether it does is seen only by looking. */
  #watchClient(): void {
    const { idleMs } = this.#f.route.timeouts;
    this.#clientUntilMonoMs = deadline(this.clock, idleMs);
    this.#limit(idleMs / CLIENT_LOOKS);
  }

  /** Whoever takes nothing for so long is gone; whoever takes a little gets another term. */
  #expireClient(): void {
    if (!this.#reply.standsStill()) this.#watchClient();
    else if (this.clock.monoMs() >= this.#clientUntilMonoMs) this.#f.request.socket.destroy();
    else this.#limit(this.#f.route.timeouts.idleMs / CLIENT_LOOKS);
  }

  #limit(ms: number): void {
    this.deadlineMonoMs = deadline(this.clock, ms);
  }

  /** Gives the upstream up and tells the client. */
  #abandon(problem: Problem): void {
    if (this.#closed) return;
    const { attempt } = this;
    this.attempt = undefined;
    attempt?.controller?.abort(problem);
    this.#limit(this.#f.route.timeouts.idleMs);
    this.#reply.fail(problem);
  }

  /** The answer is over, or the client is gone. */
  #clientClosed(): void {
    const { response, event } = this.#f;
    this.#closed = true;
    this.#context.watchdog.delete(this);
    this.#leave(this.attempt);
    this.#leave(this.#rejected);
    this.#waiting?.abort();
    if (this.#body?.complete === false) this.#body.discard();
    event.aborted = event.code === undefined && !response.writableFinished;
    event.durationMs = this.clock.monoMs() - event.startedMonoMs;
    this.#context.observe(event);
  }

  #leave(attempt: Attempt | undefined): void {
    this.attempt = undefined;
    attempt?.controller?.abort(new Error('the client has left'));
  }
}
