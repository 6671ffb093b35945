import type { Socket } from 'node:net';
import { AttemptRecord, type TokenWait } from '../base/journey.ts';
import type { Problem } from '../base/problem.ts';
import { type AccessToken, isUsable } from '../login/access-token.ts';
import type { Carrier, Repeatable, SendOptions } from '../upstream/carrier.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { Attempt, type AttemptOwner } from './attempt.ts';
import type { RequestBody } from './client/request-body.ts';
import type { Progress } from './course.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { headersUpstream, targetUpstream } from './headers/request-headers.ts';
import { type AnswerOwner, HeldAnswer } from './held-answer.ts';
import { isRepeatable, Repeats } from './repeats.ts';
import { noToken, noteToken, secondChance, tokenSource } from './token-use.ts';
import type { Upgrade } from './upgrade.ts';

const NOTHING: readonly Buffer[] = [];

/** What goes up. */
export interface Sent {
  readonly forwardable: Forwardable;
  readonly body: RequestBody | undefined;
  readonly upgrade: Upgrade | undefined;
}

/** Has the request sent, and gets its answer. */
export interface Sender extends AnswerOwner {
  /** Milliseconds until `expire`; `undefined` while something else has a limit of its own. */
  limit(ms: number | undefined): void;
  /** The head of the answer that counts; its body comes by `received` and `ended`. */
  pass(head: ResponseHead): void;
  switched(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void;
  /** There is no token, and no request goes up. */
  abandon(problem: Problem): void;
  /** The client takes nothing more at present. */
  readonly full: boolean;
}

/**
 * Brings a request to the upstream: a token, a connection, the request itself, and all of it once more after a 401, or
 * where `repeats.ts` allows it after a failure. From the head of the answer on, an attempt belongs to the sender.
 */
export class Sending implements AttemptOwner {
  /** The latest attempt; it stays here when it has ended. */
  attempt: Attempt | undefined;
  readonly #context: ForwardContext;
  readonly #progress: Progress;
  readonly #sender: Sender;
  readonly #f: Forwardable;
  readonly #body: RequestBody | undefined;
  readonly #upgrade: Upgrade | undefined;
  readonly #repeats = new Repeats();
  #wait: AbortController | undefined;

  constructor(context: ForwardContext, progress: Progress, sender: Sender, sent: Sent) {
    this.#context = context;
    this.#progress = progress;
    this.#sender = sender;
    this.#f = sent.forwardable;
    this.#body = sent.body;
    this.#upgrade = sent.upgrade;
  }

  authorize(): void {
    if (!this.#progress.enter('authorizing')) return;
    const source = tokenSource(this.#f);
    const token = source?.current();
    noteToken(this.#f, source, token);
    if (source === undefined || token !== undefined) {
      this.#connect(token);
      return;
    }
    this.#sender.limit(undefined);
    this.#wait = new AbortController();
    this.#login(source.wait(this.#wait.signal))
      .then(
        (fresh) => this.#connectIfHere(fresh),
        (reason) => this.#sender.abandon(noToken(reason)),
      )
      .catch((cause) => this.crash(cause));
  }

  /** Records how long the request waits for a token. */
  #login<T>(waited: Promise<T>): Promise<T> {
    const { event } = this.#f;
    const { clock } = this.#context;
    const wait: TokenWait = { before: event.tokenWait, fromMonoMs: clock.monoMs(), untilMonoMs: -1 };
    event.tokenWait = wait;
    return waited.finally(() => {
      wait.untilMonoMs = clock.monoMs();
    });
  }

  /** After a wait: nothing goes upstream for a client that has left, even if its departure has not been read yet. */
  async #connectIfHere(token: AccessToken): Promise<void> {
    const { request } = this.#f;
    const reader = this.#upgrade === undefined ? request : request.socket;
    if (await this.#context.departures.isHere(reader)) this.#connect(token);
  }

  /** @param rejected the attempt that got a 401, from the second one on */
  #connect(
    token: AccessToken | undefined,
    on: Pick<SendOptions, 'fresh' | 'http1'> = { fresh: false, http1: this.#repeats.http1 },
    rejected = this.attempt?.rejected,
  ): void {
    if (!this.#progress.enter('connecting')) return;
    this.#sender.limit(undefined);
    const { clock } = this.#context;
    const { event, route } = this.#f;
    const record = new AttemptRecord(route.upstreamOrigin, clock.monoMs(), event.attempt);
    event.attempt = record;
    const trace = this.#f.trace?.sending(this.#f);
    this.attempt = new Attempt(this, { clock, token, trace, rejected, record });
    this.#f.pool.send(this.attempt, {
      fresh: on.fresh,
      upgrade: this.#upgrade !== undefined,
      http1: on.http1,
      upload: this.#body?.whole === false,
      once: !isRepeatable(this.#sendable),
    });
  }

  get #sendable() {
    return { method: this.#f.request.method!, body: this.#body };
  }

  connected(attempt: Attempt, carrier: Carrier): void {
    const { token } = attempt;
    if (token !== undefined && !isUsable(token, this.#context.clock)) {
      // It took long to connect, and the token has ended.
      attempt.abort();
      this.authorize();
    } else if (this.#progress.enter('sending')) {
      this.#send(attempt, carrier);
      this.limit();
    }
  }

  #send({ token, trace }: Attempt, carrier: Carrier): void {
    const { request, head } = this.#f;
    const body = this.#body?.begin(carrier) ?? NOTHING;
    const headers = headersUpstream(this.#f, token, this.#context.via);
    trace?.carry(headers);
    carrier.send({
      method: request.method!,
      target: targetUpstream(this.#f, token),
      headers,
      chunked: head.contentLength === -1,
      body,
      complete: this.#body?.complete ?? true,
      upgrade: this.#upgrade?.protocol,
    });
  }

  /** The request, or its answer, goes on from here. */
  limit(): void {
    const { responseMs, idleMs } = this.#f.route.timeouts;
    const whole = this.#body === undefined || this.#body.complete;
    this.#sender.limit(whole && this.#progress.course === 'sending' ? responseMs : idleMs);
  }

  /** The upstream takes more of the body. */
  drained(): void {
    this.#body?.drained();
  }

  responded(attempt: Attempt, head: ResponseHead): void {
    const second = head.status === 401 ? this.#secondChance(attempt) : undefined;
    if (second instanceof Promise) {
      this.#hold(attempt, head, second);
    } else if (second !== undefined) {
      this.#replay(attempt, second);
    } else {
      attempt.giveTo(this.#sender);
      this.#sender.pass(head);
    }
  }

  #secondChance(attempt: Attempt): ReturnType<typeof secondChance> {
    if (attempt.rejected !== undefined) return undefined;
    // The source learns of it in any case: the next request must not use this token either.
    const second = secondChance(this.#f, attempt.token);
    return this.#body === undefined || this.#body.replayable ? second : undefined;
  }

  #replay(attempt: Attempt, token: AccessToken): void {
    attempt.drop();
    this.#connect(token, undefined, attempt);
  }

  #hold(attempt: Attempt, head: ResponseHead, second: Promise<AccessToken | undefined>): void {
    if (!this.#progress.enter('held')) return;
    this.#sender.limit(undefined); // A login has a limit of its own.
    const held = new HeldAnswer(attempt, (cause) => this.crash(cause));
    this.#login(second)
      .then((token) => {
        if (this.#progress.course !== 'held') return;
        if (token !== undefined && isUsable(token, this.#context.clock)) {
          this.#replay(attempt, token);
          return;
        }
        this.#sender.pass(head);
        held.giveTo(this.#sender);
        if (!this.#sender.full) attempt.resume();
      })
      .catch((cause) => this.crash(cause));
  }

  switched(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void {
    this.#sender.switched(attempt, head, socket, early);
  }

  failed(attempt: Attempt, problem: Problem, repeatable: Repeatable): void {
    const next = this.#repeats.next(repeatable, this.#sendable);
    if (next === undefined) this.#sender.failed(attempt, problem, 'no');
    else this.#connect(attempt.token, next);
  }

  crash(cause: unknown): void {
    this.#sender.crash(cause);
  }

  /** The client has left. */
  end(): void {
    this.#wait?.abort();
    this.attempt?.abort();
    this.attempt?.rejected?.abort();
  }
}
