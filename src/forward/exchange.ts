import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { Problem } from '../base/errors.ts';
import { type AccessToken, isUsable } from '../login/access-token.ts';
import type { Carrier, Repeatable } from '../upstream/carrier.ts';
import type { ResponseHead } from '../upstream/response-reader.ts';
import { upstreamFailure } from '../upstream/upstream-error.ts';
import { Attempt } from './attempt.ts';
import { Reply } from './client/reply.ts';
import { RequestBody } from './client/request-body.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { headersUpstream, targetUpstream } from './headers/request-headers.ts';
import { replyHead } from './headers/response-headers.ts';
import { HeldAnswer } from './held-answer.ts';
import { isRepeatable, Repeats, type Sendable } from './repeats.ts';
import { isCoded, Scrubbing } from './scrub/scrubbing.ts';
import { noToken, secondChance, tokenSource } from './token-use.ts';
import type { Tunnel } from './tunnel.ts';
import type { Upgrade } from './upgrade.ts';
import { deadline, type Watched } from './watchdog.ts';

/** How often, within the time that a client may take nothing, it is looked at. */
const CLIENT_LOOKS = 10;

const NOTHING: readonly Buffer[] = [];

/**
 * Where an exchange is on its course:
 * - `waiting`: for the client's first piece, a token, or a connection;
 * - `sending`: the request goes up, and no answer has begun;
 * - `held`: a 401 has come, and waits for a new token;
 * - `answering`: the client gets its answer, or the bytes of a tunnel;
 * - `over`: the client has got its answer, or is gone.
 */
type Course = 'waiting' | 'sending' | 'held' | 'answering' | 'over';

/** One request and its answer: from the token to the last byte, or to the problem that explains why not. */
export class Exchange implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  memberAt = -1;
  /** The one whose answer counts. */
  attempt: Attempt | undefined;
  readonly #context: ForwardContext;
  readonly #clock: Clock;
  readonly #f: Forwardable;
  readonly #body: RequestBody | undefined;
  readonly #upgrade: Upgrade | undefined;
  /** There where no credential may come back. */
  readonly #scrubbing: Scrubbing | undefined;
  readonly #reply: Reply;
  #course: Course = 'waiting';
  /** Ends a wait for a token when the client leaves; there only while one waits. */
  #wait: AbortController | undefined;
  /** The attempt that got a 401, whose answer is read to its end and forgotten. */
  #rejected: Attempt | undefined;
  #held: HeldAnswer | undefined;
  #tunnel: Tunnel | undefined;
  /** Ends the upstream of a tunnel that can't begin yet. */
  #abandonTunnel: (() => void) | undefined;
  readonly #repeats = new Repeats();
  #clientUntilMonoMs = 0;

  constructor(context: ForwardContext, forwardable: Forwardable, upgrade?: Upgrade) {
    this.#context = context;
    this.#clock = context.clock;
    this.#f = forwardable;
    this.#upgrade = upgrade;
    if (forwardable.route.scrub) {
      this.#scrubbing = new Scrubbing(context.scrubbing, (parts) =>
        this.#guard(() => this.#writeHeld(parts)),
      );
    }
    this.#reply = new Reply(forwardable, () => this.attempt?.resume());
    this.#body = forwardable.head.hasBody
      ? new RequestBody(forwardable.request, () => this.#bodyMoved())
      : undefined;
  }

  start(): void {
    const { response, request, head } = this.#f;
    response.sendDate = false; // The upstream's Date passes; where it gives none, we make none up.
    response.on('close', () => this.#clientClosed());
    this.#context.watchdog.add(this);
    // Answered before a token is waited for: a client that gets nothing within a second sends its body anyway.
    if (head.expectation === 'continue' && request.httpVersion === '1.1') response.writeContinue();
    this.#upgrade?.listen();
    if (this.#body === undefined) {
      this.#authorize();
    } else {
      // The listener finds that what follows the head is no body.
      request.once('malformed', (problem: Problem) => this.#abandon(problem));
      this.#limit(this.#f.route.timeouts.idleMs);
      this.#body.prefetch(() => this.#guard(() => this.#authorize()));
    }
  }

  #authorize(): void {
    if (this.#course === 'over') return;
    const source = tokenSource(this.#f);
    const token = source?.current();
    if (source === undefined || token !== undefined) {
      this.#connect(token);
      return;
    }
    this.#course = 'waiting';
    this.deadlineMonoMs = Number.POSITIVE_INFINITY; // The wait has a limit of its own.
    this.#wait = new AbortController();
    source
      .wait(this.#wait.signal)
      .then(
        (fresh) => this.#connectIfHere(fresh),
        (reason) => this.#abandon(noToken(reason)),
      )
      .catch((cause) => this.crash(cause));
  }

  /** After a wait: nothing goes upstream for a client that has left, even if nobody has read so far as to see it. */
  async #connectIfHere(token: AccessToken): Promise<void> {
    const { request } = this.#f;
    const reader = this.#upgrade === undefined ? request : request.socket;
    if (await this.#context.departures.isHere(reader)) this.#connect(token);
  }

  #connect(
    token: AccessToken | undefined,
    { fresh, http1 } = { fresh: false, http1: this.#repeats.http1 },
  ): void {
    if (this.#course === 'over' || this.#reply.begun) return;
    this.#course = 'waiting';
    this.deadlineMonoMs = Number.POSITIVE_INFINITY; // To connect has a limit of its own.
    this.attempt = new Attempt(this, token, this.#f.trace?.sending(this.#f));
    this.#f.pool.send(this.attempt, {
      fresh,
      upgrade: this.#upgrade !== undefined,
      http1,
      upload: this.#body?.whole === false,
      once: !isRepeatable(this.#sendable),
    });
  }

  connected(attempt: Attempt, carrier: Carrier): void {
    const { token } = attempt;
    if (token !== undefined && !isUsable(token, this.#clock)) {
      // It took long to connect, and the token is over.
      this.attempt = undefined;
      attempt.abort();
      this.#authorize();
      return;
    }
    const { request, head } = this.#f;
    const body = this.#body?.begin(carrier) ?? NOTHING;
    this.#course = 'sending';
    const headers = headersUpstream(this.#f, token, this.#context.via);
    attempt.trace?.carry(headers);
    carrier.send({
      method: request.method!,
      target: targetUpstream(this.#f, token),
      headers,
      chunked: head.contentLength === -1,
      body,
      complete: this.#body?.complete ?? true,
      upgrade: this.#upgrade?.protocol,
    });
    this.#limitSending();
  }

  #limitSending(): void {
    const { timeouts } = this.#f.route;
    const whole = this.#body === undefined || this.#body.complete;
    this.#limit(whole && this.#course === 'sending' ? timeouts.responseMs : timeouts.idleMs);
  }

  #bodyMoved(): void {
    const { event } = this.#f;
    this.#context.bytesPassed(this.#body!.bytes - event.bytesIn);
    event.bytesIn = this.#body!.bytes;
    if (this.attempt?.carrier !== undefined) this.#limitSending();
  }

  /** The upstream takes more of the body. */
  drained(): void {
    this.#body?.drained();
  }

  responded(attempt: Attempt, head: ResponseHead): void {
    const second = head.status === 401 ? this.#secondChance(attempt) : undefined;
    if (second === undefined) {
      this.#pass(head);
    } else if (!(second instanceof Promise)) {
      this.#replay(attempt, second);
    } else {
      this.#course = 'held';
      this.#held = new HeldAnswer(attempt, head);
      this.deadlineMonoMs = Number.POSITIVE_INFINITY; // A login has a limit of its own.
      second.then((token) => this.#release(token)).catch((cause) => this.crash(cause));
    }
  }

  /** The new token is there, or there will be none. */
  #release(token: AccessToken | undefined): void {
    const held = this.#held;
    this.#held = undefined;
    if (this.#course !== 'held' || held === undefined) return;
    const { attempt, problem } = held;
    if (token !== undefined && isUsable(token, this.#clock)) {
      this.#replay(attempt, token);
    } else {
      this.#pass(held.head);
      for (const piece of held.body) this.received(attempt, piece);
      if (held.ended) this.ended();
      else if (problem !== undefined) this.failed(attempt, problem, 'no');
    }
    if (!this.#reply.full) attempt.resume();
  }

  #secondChance(attempt: Attempt): ReturnType<typeof secondChance> {
    if (this.#rejected !== undefined) return undefined;
    // Told in any case: the token is dead for the next request, too.
    const second = secondChance(this.#f, attempt.token);
    return this.#body === undefined || this.#body.replayable ? second : undefined;
  }

  #replay(attempt: Attempt, token: AccessToken): void {
    this.#rejected = attempt;
    this.#connect(token);
  }

  #pass(head: ResponseHead): void {
    this.#course = 'answering';
    const problem = this.#invalid(head) ?? this.#begin(head);
    this.#limit(this.#f.route.timeouts.idleMs);
    if (problem !== undefined) this.#upstreamFailed(problem);
  }

  /** Why no valid answer can be made of it. */
  #invalid({ status, lines }: ResponseHead): Problem | undefined {
    const bodyless = this.#f.request.method === 'HEAD' || status === 204 || status === 304;
    const why =
      status > 599
        ? `status ${status}`
        : this.#scrubbing !== undefined && !bodyless && isCoded(lines)
          ? 'a content coding, which a route with scrub can not look into'
          : undefined;
    return why === undefined ? undefined : upstreamFailure('not-http', { cause: new Error(why) });
  }

  #begin({ status, reason, lines, framed }: ResponseHead): Problem | undefined {
    const scrubbing = this.#scrubbing;
    const head = replyHead(lines, status, framed, this.#f);
    const keepsAlive = !this.#context.stopping();
    if (scrubbing === undefined) return this.#reply.begin(status, reason, head, keepsAlive);
    return this.#reply.begin(status, scrubbing.text(reason), scrubbing.head(head), keepsAlive);
  }

  /** @returns false where the piece is still needed after the call */
  received(attempt: Attempt, piece: Buffer): boolean {
    if (this.#held !== undefined) {
      this.#held.keep(piece);
      return false;
    }
    this.#limit(this.#f.route.timeouts.idleMs);
    if (attempt.carrier?.leavesGarbage === true) this.#context.bytesPassed(piece.length);
    const taken =
      this.#scrubbing === undefined ? this.#reply.write(piece) : this.#writeScrubbed(this.#scrubbing, piece);
    if (this.#reply.full) this.#waitForClient();
    return taken;
  }

  #waitForClient(): void {
    this.attempt?.pause();
    this.#watchClient();
  }

  #writeScrubbed(scrubbing: Scrubbing, piece: Buffer): boolean {
    let taken = true;
    // Only the last one may be the piece's own memory.
    for (const part of scrubbing.pass(piece)) taken = this.#reply.write(part);
    return taken;
  }

  /** What scrub has held goes on. */
  #writeHeld(parts: readonly Buffer[]): void {
    for (const part of parts) this.#reply.write(part);
    if (this.#reply.full) this.#waitForClient();
  }

  ended(): void {
    if (this.#held !== undefined) {
      this.#held.ended = true;
      return;
    }
    this.attempt = undefined;
    this.#body?.leave(); // An answer that didn't wait for the whole request.
    for (const part of this.#scrubbing?.rest() ?? NOTHING) this.#reply.write(part);
    this.#reply.end();
    this.#watchClient();
  }

  /** The upstream speaks the other protocol from here on. */
  switched(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void {
    this.attempt = undefined;
    this.#course = 'answering';
    this.#f.event.status = head.status;
    const join = () => this.#join(attempt, head, socket, early);
    if (this.#body === undefined || this.#body.complete) join();
    else this.#joinLater(socket, join);
  }

  /** A client speaks the other protocol only when its request is whole (RFC 9110 §7.8): the rest of that goes up first. */
  #joinLater(upstream: Socket, join: () => void): void {
    const drained = () => this.#body!.drained();
    const gone = () => this.#f.request.socket.destroy();
    upstream.pause();
    upstream.on('error', gone).on('close', gone).on('drain', drained);
    this.#abandonTunnel = () => upstream.destroy();
    this.#body!.whenComplete(() => {
      upstream.off('error', gone).off('close', gone).off('drain', drained);
      this.#abandonTunnel = undefined;
      if (this.#course !== 'over') join();
    });
  }

  #join(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void {
    const tunnel = this.#upgrade!.join(this.#context, this.#f, {
      head,
      socket,
      early,
      token: attempt.token,
      scrubbing: this.#scrubbing,
    });
    this.#tunnel = tunnel;
    this.#context.watchdog.delete(this);
    this.#context.watchdog.add(tunnel);
    this.#f.request.socket.on('close', () => this.#clientClosed());
    tunnel.open();
  }

  failed(attempt: Attempt, problem: Problem, repeatable: Repeatable): void {
    if (this.#held !== undefined) {
      this.#held.problem = problem;
      return;
    }
    const next = this.#reply.begun ? undefined : this.#repeats.next(repeatable, this.#sendable);
    if (next === undefined) this.#upstreamFailed(problem);
    else this.#connect(attempt.token, next);
  }

  get #sendable(): Sendable {
    return { method: this.#f.request.method!, body: this.#body };
  }

  #upstreamFailed(problem: Problem): void {
    if (this.#course === 'over' || this.#reply.over) return;
    const { code, message: detail, remedy, cause } = problem;
    const route = this.#f.route.prefix;
    this.#context.observe({ type: 'upstream-failed', code, route, detail, remedy, cause });
    this.#abandon(problem);
  }

  /** The watchdog's call: a limit has passed. */
  expire(): void {
    const { begun, over } = this.#reply;
    const waitsForClient = over || (begun && this.attempt?.paused === true);
    const waitsForBody = this.#body !== undefined && !this.#body.complete && !this.#body.heldUp;
    if (waitsForClient) this.#expireClient();
    else if (waitsForBody && !begun) this.#abandon(new Problem('request-timeout'));
    else this.#upstreamFailed(upstreamFailure('answer-timeout'));
  }

  /** It is the client's turn to take something; whether it does is seen only by looking. */
  #watchClient(): void {
    const { idleMs } = this.#f.route.timeouts;
    this.#clientUntilMonoMs = deadline(this.#clock, idleMs);
    this.#limit(idleMs / CLIENT_LOOKS);
  }

  /** Whoever takes nothing for so long is gone; whoever takes a little gets another term. */
  #expireClient(): void {
    if (!this.#reply.standsStill()) this.#watchClient();
    else if (this.#clock.monoMs() >= this.#clientUntilMonoMs) this.#f.request.socket.destroy();
    else this.#limit(this.#f.route.timeouts.idleMs / CLIENT_LOOKS);
  }

  #limit(ms: number): void {
    this.deadlineMonoMs = deadline(this.#clock, ms);
  }

  /** Gives the upstream up and tells the client. */
  #abandon(problem: Problem): void {
    if (this.#course === 'over') return;
    this.#course = 'answering';
    this.#body?.leave();
    const { attempt } = this;
    this.attempt = undefined;
    attempt?.abort();
    this.#limit(this.#f.route.timeouts.idleMs);
    this.#reply.fail(problem);
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

  /** The answer is over, or the client is gone. */
  #clientClosed(): void {
    const { response, event } = this.#f;
    this.#course = 'over';
    this.#context.watchdog.delete(this);
    const { attempt } = this;
    this.attempt = undefined;
    attempt?.abort();
    this.#rejected?.abort();
    this.#abandonTunnel?.();
    this.#wait?.abort();
    if (this.#body?.complete === false) this.#body.discard();
    if (this.#tunnel === undefined) event.aborted = event.code === undefined && !response.writableFinished;
    else this.#tunnelClosed(this.#tunnel);
    this.#scrubbing?.close();
    if (this.#scrubbing?.found === true) event.scrubbed = true;
    event.durationMs = this.#clock.monoMs() - event.startedMonoMs;
    this.#context.observe(event);
  }

  #tunnelClosed(tunnel: Tunnel): void {
    const { event } = this.#f;
    this.#context.watchdog.delete(tunnel);
    event.bytesIn = tunnel.bytesIn;
    event.bytesOut = tunnel.bytesOut;
    if (tunnel.expired) event.closedBy = 'token-expiry';
  }
}
