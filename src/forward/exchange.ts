import type { Socket } from 'node:net';
import { Problem } from '../base/problem.ts';
import { DirectRequest } from '../node/direct-request.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { upstreamFailure } from '../upstream/upstream-error.ts';
import { Answer } from './answer.ts';
import type { Attempt } from './attempt.ts';
import { RequestBody } from './client/request-body.ts';
import { ExchangeState } from './exchange-state.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { Sending, type SendingOwner } from './sending.ts';
import type { Tunnel } from './tunnel.ts';
import type { Upgrade } from './upgrade.ts';
import { deadline, type Watched } from './watchdog.ts';

/** Bodies up to this size don't count towards V8's extra sweep: each request leaves more garbage than that anyway. */
const SMALL_BODY_BYTES = 8 * 1024;
/** Takes the body of a request without one: a stream would schedule an event for its end. */
const NO_BODY = { take: () => {}, end: () => {} };

/**
 * One request and its answer, from admission to the last byte, or to the problem that explains the failure; it is in one
 * `ExchangeState`. `Sending` sends the request to the upstream, and `Answer` writes the answer to the client; the exchange
 * connects the two, sets their time limits and ends them. The methods are in the order of events.
 */
export class Exchange implements Watched, SendingOwner {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  memberAt = -1;
  readonly #context: ForwardContext;
  readonly #forwardable: Forwardable;
  readonly #state = new ExchangeState();
  readonly #body: RequestBody | undefined;
  readonly #upgrade: Upgrade | undefined;
  readonly #sending: Sending;
  readonly #answer: Answer;
  #tunnel: Tunnel | undefined;
  /** Closes the upstream's connection if it has switched protocols and the request never completes. */
  #closeSwitched: (() => void) | undefined;

  constructor(context: ForwardContext, forwardable: Forwardable, upgrade?: Upgrade) {
    this.#context = context;
    this.#forwardable = forwardable;
    this.#upgrade = upgrade;
    this.#body = forwardable.head.hasBody
      ? new RequestBody(forwardable, context.departures, (bytes) => this.#bodyProgressed(bytes))
      : undefined;
    this.#sending = new Sending(context, this.#state, this, { forwardable, body: this.#body, upgrade });
    this.#answer = new Answer(context, forwardable, {
      drained: () => this.#clientReads(),
      released: (write) =>
        this.#guard(() => {
          write();
          this.#pauseIfFull();
        }),
    });
  }

  start(): void {
    const { response, request, head, route } = this.#forwardable;
    response.sendDate = false; // The upstream's Date passes; bearerd adds none.
    response.on('close', () => this.#clientClosed());
    this.#context.watchdog.add(this);
    // 100 is answered before the wait for a token: a client that gets nothing within a second sends its body anyway.
    if (head.expectation === 'continue' && request.httpVersion === '1.1') response.writeContinue();
    this.#upgrade?.listen();
    if (this.#body === undefined) {
      if (request instanceof DirectRequest) request.passBodyTo(NO_BODY);
      this.#sending.authorize();
    } else {
      // The listener emits this if the bytes after the head are no valid body.
      request.once('malformed', (problem: Problem) => this.abandon(problem));
      this.expireIn(route.timeouts.idleMs);
      this.#body.prefetch(() => this.#guard(() => this.#sending.authorize()));
    }
  }

  #bodyProgressed(bytes: number): void {
    const { event } = this.#forwardable;
    if (bytes > SMALL_BODY_BYTES) this.#context.bytesPassed(bytes - event.bytesIn);
    event.bytesIn = bytes;
    // An attempt that has switched protocols has no carrier any more.
    if (this.#sending.attempt?.carrier !== undefined || this.#state.present === 'switching')
      this.#sending.restartTimeLimit();
  }

  pass(head: ResponseHead): void {
    if (!this.#state.enter('answering')) return;
    this.expireIn(this.#forwardable.route.timeouts.idleMs);
    const problem = this.#answer.begin(head);
    if (problem !== undefined) this.#upstreamFailed(problem);
  }

  received(attempt: Attempt, piece: Buffer): boolean {
    if (this.#state.present !== 'answering') return true;
    this.expireIn(this.#forwardable.route.timeouts.idleMs);
    if (attempt.carrier?.leavesGarbage === true) this.#context.bytesPassed(piece.length);
    const taken = this.#answer.write(piece);
    this.#pauseIfFull();
    return taken;
  }

  get full(): boolean {
    return this.#answer.full;
  }

  #pauseIfFull(): void {
    if (!this.full) return;
    this.#sending.attempt?.pause();
    this.deadlineMonoMs = this.#answer.watchClient();
  }

  /** The client has read the answer so far. Its check was due soon; now the upstream's limit begins. */
  #clientReads(): void {
    this.expireIn(this.#forwardable.route.timeouts.idleMs);
    this.#sending.attempt?.resume();
  }

  /** The upstream takes more of the body, after it has begun to answer. */
  drained(): void {
    this.#body?.drained();
  }

  ended(): void {
    if (!this.#state.enter('answered')) return;
    this.#body?.detach(); // The request may still be incomplete.
    this.#answer.end();
    this.deadlineMonoMs = this.#answer.watchClient();
  }

  /** The upstream has switched to the other protocol. */
  switched(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void {
    const { scrubbing } = this.#answer;
    const upstream = { head, socket, early, token: attempt.token, scrubbing };
    const join = () => this.#join(() => this.#upgrade!.join(this.#context, this.#forwardable, upstream));
    this.#forwardable.event.status = head.status;
    if (this.#body === undefined || this.#body.complete) join();
    else if (this.#state.enter('switching'))
      this.#closeSwitched = this.#upgrade!.joinWhenComplete(this.#body, socket, join);
  }

  #join(open: () => Tunnel): void {
    if (!this.#state.enter('tunnel')) return;
    const { watchdog } = this.#context;
    this.#tunnel = open();
    watchdog.delete(this);
    watchdog.add(this.#tunnel);
    this.#forwardable.request.socket.on('close', () => this.#clientClosed());
    this.#tunnel.open();
  }

  failed(_attempt: Attempt, problem: Problem): void {
    this.#upstreamFailed(problem);
  }

  #upstreamFailed(problem: Problem): void {
    if (!this.#state.mayEnter('answered')) return;
    const { code, message: detail, remedy, cause } = problem;
    const route = this.#forwardable.route.name;
    this.#context.observe({ type: 'upstream-failed', code, route, detail, remedy, cause });
    this.#sending.attempt?.note(problem);
    this.abandon(problem);
  }

  expireIn(ms: number | undefined): void {
    this.deadlineMonoMs = ms === undefined ? Number.POSITIVE_INFINITY : deadline(this.#context.clock, ms);
  }

  /** The watchdog calls this when the time limit has passed. */
  expire(): void {
    const state = this.#state.present;
    const answers = state === 'answering';
    const waitsForBody = this.#body !== undefined && !this.#body.complete && !this.#body.isPaused;
    if (state === 'answered' || (answers && this.#sending.attempt?.paused)) this.#checkClient();
    else if (waitsForBody && !answers)
      this.abandon(new Problem('request-timeout', { limit: this.#sending.timeLimit }));
    else {
      const failure = answers ? 'answer-stalled' : 'answer-timeout';
      this.#upstreamFailed(upstreamFailure(failure, { limit: this.#sending.timeLimit }));
    }
  }

  #checkClient(): void {
    const next = this.#answer.checkClient();
    this.deadlineMonoMs = next ?? Number.POSITIVE_INFINITY;
    if (next !== undefined) return;
    this.#forwardable.event.closedBy = 'idle-timeout';
    this.#forwardable.event.timeLimit = { setting: 'idle', ms: this.#forwardable.route.timeouts.idleMs };
    this.#forwardable.request.socket.destroy();
  }

  /** Aborts the upstream request and answers the client with the problem. */
  abandon(problem: Problem): void {
    if (!this.#state.enter('answered')) return;
    this.#body?.detach();
    this.#sending.attempt?.abort();
    this.expireIn(this.#forwardable.route.timeouts.idleMs);
    this.#answer.fail(problem);
  }

  /** An exception in our own code ends this request only. */
  crash(cause: unknown): void {
    this.#context.observe({ type: 'internal-error', where: 'exchange', cause });
    this.#forwardable.request.socket.destroy();
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (cause) {
      this.crash(cause);
    }
  }

  /** The client has read the answer, or has left. */
  #clientClosed(): void {
    this.#state.enter('over');
    this.#context.watchdog.delete(this);
    this.#sending.end();
    this.#closeSwitched?.();
    if (this.#body?.complete === false) this.#body.discard();
    this.#answer.close();
    const { response, event } = this.#forwardable;
    if (this.#tunnel !== undefined) this.#tunnelClosed(this.#tunnel);
    else event.aborted = event.code === undefined && !response.writableFinished;
    if (this.#answer.scrubbed) event.scrubbed = true;
    event.durationMs = this.#context.clock.monoMs() - event.startedMonoMs;
    this.#context.observe(event);
  }

  #tunnelClosed(tunnel: Tunnel): void {
    const { event } = this.#forwardable;
    this.#context.watchdog.delete(tunnel);
    event.bytesIn = tunnel.bytesIn;
    event.bytesOut = tunnel.bytesOut;
    if (event.attempt !== undefined) event.attempt.lastByteMonoMs = this.#context.clock.monoMs();
    if (tunnel.expired) event.closedBy = 'token-expiry';
  }
}
