import type { Socket } from 'node:net';
import { Problem } from '../base/problem.ts';
import { DirectRequest } from '../node/direct-request.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { upstreamFailure } from '../upstream/upstream-error.ts';
import { Answer } from './answer.ts';
import type { Attempt } from './attempt.ts';
import { RequestBody } from './client/request-body.ts';
import { Progress } from './course.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { type Sender, Sending } from './sending.ts';
import type { Tunnel } from './tunnel.ts';
import type { Upgrade } from './upgrade.ts';
import { deadline, type Watched } from './watchdog.ts';

/** A request leaves more than this for V8's sweep, which so comes in time for a body of this size by itself. */
const SMALL_BODY_BYTES = 8 * 1024;
/** A stream would schedule its end, though there was nothing in it. */
const NO_BODY = { take: () => {}, end: () => {} };

/**
 * One request and its answer: from the token to the last byte, or to the problem that explains why not. `course.ts`
 * has its states and what may follow each. `Sending` brings the request to the upstream, `Answer` the answer to the
 * client; here both are limited, joined and ended. The methods stand in the order in which things happen.
 */
export class Exchange implements Watched, Sender {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  memberAt = -1;
  readonly #context: ForwardContext;
  readonly #f: Forwardable;
  readonly #progress = new Progress();
  readonly #body: RequestBody | undefined;
  readonly #upgrade: Upgrade | undefined;
  readonly #sending: Sending;
  readonly #answer: Answer;
  #tunnel: Tunnel | undefined;
  /** Ends an upstream that has switched protocols before the request is whole. */
  #leaveSwitched: (() => void) | undefined;

  constructor(context: ForwardContext, forwardable: Forwardable, upgrade?: Upgrade) {
    this.#context = context;
    this.#f = forwardable;
    this.#upgrade = upgrade;
    this.#body = forwardable.head.hasBody
      ? new RequestBody(forwardable, context.departures, () => this.#bodyMoved())
      : undefined;
    this.#sending = new Sending(context, this.#progress, this, { forwardable, body: this.#body, upgrade });
    this.#answer = new Answer(context, forwardable, {
      drained: () => this.#sending.attempt?.resume(),
      released: (write) =>
        this.#guard(() => {
          write();
          this.#pauseIfFull();
        }),
    });
  }

  start(): void {
    const { response, request, head, route } = this.#f;
    response.sendDate = false; // The upstream's Date passes; where it gives none, we make none up.
    response.on('close', () => this.#clientClosed());
    this.#context.watchdog.add(this);
    // Answered before a token is waited for: a client that gets nothing within a second sends its body anyway.
    if (head.expectation === 'continue' && request.httpVersion === '1.1') response.writeContinue();
    this.#upgrade?.listen();
    if (this.#body === undefined) {
      if (request instanceof DirectRequest) request.passBodyTo(NO_BODY);
      this.#sending.authorize();
    } else {
      // The listener finds that what follows the head is no body.
      request.once('malformed', (problem: Problem) => this.abandon(problem));
      this.limit(route.timeouts.idleMs);
      this.#body.prefetch(() => this.#guard(() => this.#sending.authorize()));
    }
  }

  #bodyMoved(): void {
    const { event } = this.#f;
    const { bytes } = this.#body!;
    if (bytes > SMALL_BODY_BYTES) this.#context.bytesPassed(bytes - event.bytesIn);
    event.bytesIn = bytes;
    if (this.#sending.attempt?.carrier !== undefined) this.#sending.limit();
  }

  pass(head: ResponseHead): void {
    if (!this.#progress.enter('answering')) return;
    this.limit(this.#f.route.timeouts.idleMs);
    const problem = this.#answer.begin(head);
    if (problem !== undefined) this.#upstreamFailed(problem);
  }

  received(attempt: Attempt, piece: Buffer): boolean {
    if (this.#progress.course !== 'answering') return true;
    this.limit(this.#f.route.timeouts.idleMs);
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

  /** The upstream takes more of the body, though it has begun to answer. */
  drained(): void {
    this.#body?.drained();
  }

  ended(): void {
    if (!this.#progress.enter('answered')) return;
    this.#body?.leave(); // An answer that didn't wait for the whole request.
    this.#answer.end();
    this.deadlineMonoMs = this.#answer.watchClient();
  }

  /** The upstream speaks the other protocol from here on. */
  switched(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void {
    const { scrubbing } = this.#answer;
    const upstream = { head, socket, early, token: attempt.token, scrubbing };
    const join = () => this.#join(() => this.#upgrade!.join(this.#context, this.#f, upstream));
    this.#f.event.status = head.status;
    if (this.#body === undefined || this.#body.complete) join();
    else if (this.#progress.enter('switching'))
      this.#leaveSwitched = this.#upgrade!.joinWhenWhole(this.#body, socket, join);
  }

  #join(open: () => Tunnel): void {
    if (!this.#progress.enter('tunnel')) return;
    const { watchdog } = this.#context;
    this.#tunnel = open();
    watchdog.delete(this);
    watchdog.add(this.#tunnel);
    this.#f.request.socket.on('close', () => this.#clientClosed());
    this.#tunnel.open();
  }

  failed(_attempt: Attempt, problem: Problem): void {
    this.#upstreamFailed(problem);
  }

  #upstreamFailed(problem: Problem): void {
    if (!this.#progress.mayEnter('answered')) return;
    const { code, message: detail, remedy, cause } = problem;
    const route = this.#f.route.name;
    this.#context.observe({ type: 'upstream-failed', code, route, detail, remedy, cause });
    this.#sending.attempt?.note(problem);
    this.abandon(problem);
  }

  limit(ms: number | undefined): void {
    this.deadlineMonoMs = ms === undefined ? Number.POSITIVE_INFINITY : deadline(this.#context.clock, ms);
  }

  /** The watchdog's call: a limit has passed. */
  expire(): void {
    const { course } = this.#progress;
    const answers = course === 'answering';
    const waitsForBody = this.#body !== undefined && !this.#body.complete && !this.#body.heldUp;
    if (course === 'answered' || (answers && this.#sending.attempt?.paused)) this.#lookAtClient();
    else if (waitsForBody && !answers) this.abandon(new Problem('request-timeout'));
    else this.#upstreamFailed(upstreamFailure('answer-timeout'));
  }

  #lookAtClient(): void {
    const next = this.#answer.lookAtClient();
    this.deadlineMonoMs = next ?? Number.POSITIVE_INFINITY;
    if (next !== undefined) return;
    this.#f.event.closedBy = 'idle-timeout';
    this.#f.request.socket.destroy();
  }

  /** Aborts the upstream request and answers the client with the problem. */
  abandon(problem: Problem): void {
    if (!this.#progress.enter('answered')) return;
    this.#body?.leave();
    this.#sending.attempt?.abort();
    this.limit(this.#f.route.timeouts.idleMs);
    this.#answer.fail(problem);
  }

  /** A fault of ours ends one request, and no more. */
  crash(cause: unknown): void {
    this.#context.observe({ type: 'internal-error', where: 'exchange', cause });
    this.#f.request.socket.destroy();
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (cause) {
      this.crash(cause);
    }
  }

  /** The answer has ended, or the client has left. */
  #clientClosed(): void {
    this.#progress.enter('over');
    this.#context.watchdog.delete(this);
    this.#sending.end();
    this.#leaveSwitched?.();
    if (this.#body?.complete === false) this.#body.discard();
    this.#answer.close();
    const { response, event } = this.#f;
    if (this.#tunnel !== undefined) this.#tunnelClosed(this.#tunnel);
    else event.aborted = event.code === undefined && !response.writableFinished;
    if (this.#answer.scrubbed) event.scrubbed = true;
    event.durationMs = this.#context.clock.monoMs() - event.startedMonoMs;
    this.#context.observe(event);
  }

  #tunnelClosed(tunnel: Tunnel): void {
    const { event } = this.#f;
    this.#context.watchdog.delete(tunnel);
    event.bytesIn = tunnel.bytesIn;
    event.bytesOut = tunnel.bytesOut;
    if (event.attempt !== undefined) event.attempt.lastByteMonoMs = this.#context.clock.monoMs();
    if (tunnel.expired) event.closedBy = 'token-expiry';
  }
}
