import type { Problem } from '../base/problem.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { upstreamFailure } from '../upstream/upstream-error.ts';
import { hasNoBody, Reply } from './client/reply.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { replyHead } from './headers/response-headers.ts';
import { Scrubbing } from './scrub/scrubbing.ts';
import { whyUnsearchable } from './scrub/unsearchable.ts';
import { deadline } from './watchdog.ts';

/** How often a paused client is checked within its idle timeout. */
const CLIENT_CHECKS = 10;

interface AnswerListener {
  /** The client reads again, after the answer was `full`. */
  readonly drained: () => void;
  /** Gets a function that writes what scrub has held; called from a timer, and must not throw. */
  readonly released: (write: () => void) => void;
}

/** What the client gets: the upstream's answer, or a problem in its place. */
export class Answer {
  /** Set on routes with `scrub`, whose answers may not hold a credential. */
  readonly scrubbing: Scrubbing | undefined;
  readonly #context: ForwardContext;
  readonly #forwardable: Forwardable;
  readonly #reply: Reply;
  #clientDeadlineMonoMs = 0;

  constructor(context: ForwardContext, forwardable: Forwardable, { drained, released }: AnswerListener) {
    this.#context = context;
    this.#forwardable = forwardable;
    this.#reply = new Reply(forwardable, drained);
    if (forwardable.route.scrub) {
      this.scrubbing = new Scrubbing(context.scrubbing, (parts) => {
        released(() => {
          for (const part of parts) this.#reply.write(part);
        });
      });
    }
  }

  /** The client reads too slowly: write no more until `drained`. */
  get full(): boolean {
    return this.#reply.full;
  }

  /** A credential was found in the answer, and masked. */
  get scrubbed(): boolean {
    return this.scrubbing?.found === true;
  }

  /** Writes the head. @returns a Problem, and writes nothing, if no valid answer can be made of the head */
  begin(head: ResponseHead): Problem | undefined {
    const why = this.#invalid(head);
    if (why !== undefined) return upstreamFailure('not-http', { cause: new Error(why) });
    const { status, reason, lines, framed } = head;
    const { scrubbing } = this;
    const passed = replyHead(lines, status, framed, this.#forwardable);
    const keepsAlive = !this.#context.stopping();
    if (scrubbing === undefined) return this.#reply.begin(status, reason, passed, keepsAlive);
    return this.#reply.begin(status, scrubbing.text(reason), scrubbing.head(passed), keepsAlive);
  }

  #invalid({ status, lines }: ResponseHead): string | undefined {
    if (status > 599) return `status ${status}`;
    if (this.scrubbing === undefined || hasNoBody(this.#forwardable.request, status)) return undefined;
    const unsearchable = whyUnsearchable(lines);
    return unsearchable && `${unsearchable}, which a route with scrub can not search`;
  }

  /** @returns false if the piece's memory is still needed after the call */
  write(piece: Buffer): boolean {
    if (this.scrubbing === undefined) return this.#reply.write(piece);
    let taken = true;
    // Only the last part may share the piece's memory.
    for (const part of this.scrubbing.pass(piece)) taken = this.#reply.write(part);
    return taken;
  }

  end(): void {
    this.#writeHeld();
    this.#reply.end();
  }

  #writeHeld(): void {
    for (const part of this.scrubbing?.rest() ?? []) this.#reply.write(part);
  }

  /** Answers with a problem, or breaks the answer off if it has begun, so that the client sees that it is incomplete. */
  fail(problem: Problem): void {
    if (this.#reply.begun) this.#writeHeld();
    this.#reply.fail(problem);
  }

  /** The client's connection has closed. */
  close(): void {
    this.scrubbing?.close();
  }

  /** Starts the client's time limit: it has something to read. @returns when to check it, on the monotonic clock */
  watchClient(): number {
    const { idleMs } = this.#forwardable.route.timeouts;
    this.#clientDeadlineMonoMs = deadline(this.#context.clock, idleMs);
    return this.#nextCheck();
  }

  /** Progress resets the time limit. @returns when to check again; undefined if the client has read nothing until the limit */
  checkClient(): number | undefined {
    if (!this.#reply.hasStalled()) return this.watchClient();
    return this.#context.clock.monoMs() >= this.#clientDeadlineMonoMs ? undefined : this.#nextCheck();
  }

  #nextCheck(): number {
    return deadline(this.#context.clock, this.#forwardable.route.timeouts.idleMs / CLIENT_CHECKS);
  }
}
