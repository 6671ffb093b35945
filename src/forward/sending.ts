import type { Socket } from 'node:net';
import { AttemptRecord, type TokenWait } from '../base/journey.ts';
import type { Problem } from '../base/problem.ts';
import type { TimeLimit } from '../base/time-limit.ts';
import { type AccessToken, isUsable } from '../login/access-token.ts';
import type { Carrier, Repeatable, SendOptions } from '../upstream/carrier.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { Attempt, type AttemptOwner } from './attempt.ts';
import type { RequestBody } from './client/request-body.ts';
import { CHUNKED } from './client/request-head.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { headersUpstream, targetUpstream } from './headers/request-headers.ts';
import { type AnswerOwner, HeldAnswer } from './held-answer.ts';
import { isRepeatable, Repeats } from './repeats.ts';
import { noTokenProblem, recordTokenState, replacementToken, tokenSource } from './token-use.ts';
import type { Upgrade } from './upgrade.ts';

const NOTHING: readonly Buffer[] = [];

/** What is sent. */
interface ToSend {
  readonly forwardable: Forwardable;
  readonly body: RequestBody | undefined;
  readonly upgrade: Upgrade | undefined;
}

/** The owner of a `Sending`: gets the answer, and sets the time limit. */
export interface SendingOwner extends AnswerOwner {
  /** Calls `expire` after so many milliseconds; never if `undefined`, while something else has its own limit. */
  expireIn(ms: number | undefined): void;
  /** Gets the head of the final answer; `received` and `ended` bring its body. */
  pass(head: ResponseHead): void;
  switched(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void;
  /** There is no token: nothing was sent. */
  abandon(problem: Problem): void;
  /** The client reads too slowly: no more of the answer for now. */
  readonly full: boolean;
}

/**
 * Sends a request to the upstream: gets a token and a connection, and sends it; and all of that again after a 401, or after
 * a failure that `repeats.ts` lets it repeat. Once the head of the answer has come, the attempt belongs to the owner.
 */
export class Sending implements AttemptOwner {
  /** The latest attempt, even if it has ended. */
  attempt: Attempt | undefined;
  readonly #context: ForwardContext;
  readonly #state: ExchangeState;
  readonly #owner: SendingOwner;
  readonly #forwardable: Forwardable;
  readonly #body: RequestBody | undefined;
  readonly #upgrade: Upgrade | undefined;
  readonly #repeats = new Repeats();
  #tokenWait: AbortController | undefined;

  constructor(context: ForwardContext, state: ExchangeState, owner: SendingOwner, toSend: ToSend) {
    this.#context = context;
    this.#state = state;
    this.#owner = owner;
    this.#forwardable = toSend.forwardable;
    this.#body = toSend.body;
    this.#upgrade = toSend.upgrade;
  }

  authorize(): void {
    if (!this.#state.enter('authorizing')) return;
    const source = tokenSource(this.#forwardable);
    const token = source?.current();
    recordTokenState(this.#forwardable, source, token);
    if (source === undefined || token !== undefined) {
      this.#connect(token);
      return;
    }
    this.#owner.expireIn(undefined);
    this.#tokenWait = new AbortController();
    this.#recordWait(source.wait(this.#tokenWait.signal))
      .then(
        (fresh) => this.#connectIfPresent(fresh),
        (reason) => this.#owner.abandon(noTokenProblem(reason)),
      )
      .catch((cause) => this.crash(cause));
  }

  /** Records how long the request waits for a token. */
  #recordWait<T>(waited: Promise<T>): Promise<T> {
    const { event } = this.#forwardable;
    const { clock } = this.#context;
    const wait: TokenWait = { before: event.tokenWait, fromMonoMs: clock.monoMs(), untilMonoMs: -1 };
    event.tokenWait = wait;
    return waited.finally(() => {
      wait.untilMonoMs = clock.monoMs();
    });
  }

  /** Connects after a wait, but not for a client that has left, even if its end of the connection has not been read yet. */
  async #connectIfPresent(token: AccessToken): Promise<void> {
    const { request } = this.#forwardable;
    const reader = this.#upgrade === undefined ? request : request.socket;
    if (await this.#context.departures.isConnected(reader)) this.#connect(token);
  }

  /** @param rejected the attempt that got a 401; undefined before there is one */
  #connect(
    token: AccessToken | undefined,
    on: Pick<SendOptions, 'fresh' | 'http1'> = { fresh: false, http1: this.#repeats.http1 },
    rejected = this.attempt?.rejected,
  ): void {
    if (!this.#state.enter('connecting')) return;
    this.#owner.expireIn(undefined);
    const { clock } = this.#context;
    const { event, route } = this.#forwardable;
    const record = new AttemptRecord(route.upstreamOrigin, clock.monoMs(), event.attempt);
    event.attempt = record;
    const trace = this.#forwardable.trace?.sending(this.#forwardable);
    this.attempt = new Attempt(this, { clock, token, trace, rejected, record });
    this.#forwardable.pool.send(this.attempt, {
      fresh: on.fresh,
      upgrade: this.#upgrade !== undefined,
      http1: on.http1,
      upload: this.#body?.keptWhole === false,
      once: !isRepeatable(this.#sendable),
    });
  }

  get #sendable() {
    return { method: this.#forwardable.event.method, body: this.#body };
  }

  connected(attempt: Attempt, carrier: Carrier): void {
    const { token } = attempt;
    if (token !== undefined && !isUsable(token, this.#context.clock)) {
      // Connecting took so long that the token has expired.
      attempt.abort();
      this.authorize();
    } else if (this.#state.enter('sending')) {
      this.#send(attempt, carrier);
      this.restartTimeLimit();
    }
  }

  #send({ token, trace }: Attempt, carrier: Carrier): void {
    const { event, head } = this.#forwardable;
    const body = this.#body?.begin(carrier) ?? NOTHING;
    const headers = headersUpstream(this.#forwardable, token, this.#context.via);
    trace?.carry(headers);
    carrier.send({
      method: event.method,
      target: targetUpstream(this.#forwardable, token),
      headers,
      chunked: head.contentLength === CHUNKED,
      body,
      complete: this.#body?.complete ?? true,
      upgrade: this.#upgrade?.protocol,
    });
  }

  /** Sets the time limit: for the answer once the whole request is sent, else for the next piece. */
  restartTimeLimit(): void {
    const { responseMs, idleMs } = this.#forwardable.route.timeouts;
    this.#owner.expireIn(this.#awaitsAnswer ? responseMs : idleMs);
  }

  /** The present time limit, for reports to people. */
  get timeLimit(): TimeLimit {
    const { responseMs, idleMs } = this.#forwardable.route.timeouts;
    return this.#awaitsAnswer ? { setting: 'response', ms: responseMs } : { setting: 'idle', ms: idleMs };
  }

  get #awaitsAnswer(): boolean {
    const whole = this.#body === undefined || this.#body.complete;
    return whole && this.#state.present === 'sending';
  }

  /** The upstream takes more of the body. */
  drained(): void {
    this.#body?.drained();
  }

  responded(attempt: Attempt, head: ResponseHead): void {
    const replacement = head.status === 401 ? this.#replacementToken(attempt) : undefined;
    if (replacement instanceof Promise) {
      this.#hold(attempt, head, replacement);
    } else if (replacement !== undefined) {
      this.#replay(attempt, replacement);
    } else {
      attempt.giveTo(this.#owner);
      this.#owner.pass(head);
    }
  }

  #replacementToken(attempt: Attempt): ReturnType<typeof replacementToken> {
    if (attempt.rejected !== undefined) {
      if (attempt.token !== undefined) tokenSource(this.#forwardable)?.newTokenRejected(attempt.token);
      return undefined;
    }
    // The source is told even if the request can't be replayed: the next request must not use this token either.
    const replacement = replacementToken(this.#forwardable, attempt.token);
    return this.#body === undefined || this.#body.replayable ? replacement : undefined;
  }

  #replay(attempt: Attempt, token: AccessToken): void {
    attempt.drop();
    this.#connect(token, undefined, attempt);
  }

  #hold(attempt: Attempt, head: ResponseHead, replacement: Promise<AccessToken | undefined>): void {
    if (!this.#state.enter('held')) return;
    this.#owner.expireIn(undefined); // The token's source limits the wait.
    const held = new HeldAnswer(attempt, (cause) => this.crash(cause));
    this.#recordWait(replacement)
      .then((token) => {
        if (this.#state.present !== 'held') return;
        if (token !== undefined && isUsable(token, this.#context.clock)) {
          this.#replay(attempt, token);
          return;
        }
        this.#owner.pass(head);
        held.giveTo(this.#owner);
        if (!this.#owner.full) attempt.resume();
      })
      .catch((cause) => this.crash(cause));
  }

  switched(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void {
    this.#owner.switched(attempt, head, socket, early);
  }

  failed(attempt: Attempt, problem: Problem, repeatable: Repeatable): void {
    const next = this.#repeats.next(repeatable, this.#sendable);
    if (next === undefined) this.#owner.failed(attempt, problem, 'no');
    else this.#connect(attempt.token, next);
  }

  crash(cause: unknown): void {
    this.#owner.crash(cause);
  }

  /** The client's connection has closed. */
  end(): void {
    this.#tokenWait?.abort();
    this.attempt?.abort();
    this.attempt?.rejected?.abort();
  }
}
