import type { Problem } from '../base/problem.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { upstreamFailure } from '../upstream/upstream-error.ts';
import { Reply } from './client/reply.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { replyHead } from './headers/response-headers.ts';
import { isCoded, Scrubbing } from './scrub/scrubbing.ts';
import { deadline } from './watchdog.ts';

/** How often a client is checked within the time in which it may read nothing. */
const CLIENT_LOOKS = 10;

export interface AnswerListener {
  /** The client takes more, after the answer was `full`. */
  readonly drained: () => void;
  /** Writes what scrub has held; called from a timer, and must not throw. */
  readonly released: (write: () => void) => void;
}

/** What the client gets of the upstream's answer, or the problem in its place. */
export class Answer {
  /** Set on routes where no credential may come back. */
  readonly scrubbing: Scrubbing | undefined;
  readonly #context: ForwardContext;
  readonly #f: Forwardable;
  readonly #reply: Reply;
  #clientUntilMonoMs = 0;

  /** @param released must not throw */
  constructor(context: ForwardContext, forwardable: Forwardable, { drained, released }: AnswerListener) {
    this.#context = context;
    this.#f = forwardable;
    this.#reply = new Reply(forwardable, drained);
    if (forwardable.route.scrub) {
      this.scrubbing = new Scrubbing(context.scrubbing, (parts) => {
        released(() => {
          for (const part of parts) this.#reply.write(part);
        });
      });
    }
  }

  /** The client takes nothing more at present. */
  get full(): boolean {
    return this.#reply.full;
  }

  /** A credential was found in the answer and masked. */
  get scrubbed(): boolean {
    return this.scrubbing?.found === true;
  }

  /** Writes the head. @returns a Problem, with nothing written, where the head allows no valid answer */
  begin(head: ResponseHead): Problem | undefined {
    const why = this.#invalid(head);
    if (why !== undefined) return upstreamFailure('not-http', { cause: new Error(why) });
    const { status, reason, lines, framed } = head;
    const { scrubbing } = this;
    const passed = replyHead(lines, status, framed, this.#f);
    const keepsAlive = !this.#context.stopping();
    if (scrubbing === undefined) return this.#reply.begin(status, reason, passed, keepsAlive);
    return this.#reply.begin(status, scrubbing.text(reason), scrubbing.head(passed), keepsAlive);
  }

  #invalid({ status, lines }: ResponseHead): string | undefined {
    if (status > 599) return `status ${status}`;
    const bodyless = this.#f.request.method === 'HEAD' || status === 204 || status === 304;
    if (this.scrubbing === undefined || bodyless || !isCoded(lines)) return undefined;
    return 'a content coding, which a route with scrub can not look into';
  }

  /** @returns false where the piece is still needed after the call */
  write(piece: Buffer): boolean {
    if (this.scrubbing === undefined) return this.#reply.write(piece);
    let taken = true;
    // Only the last one may be the piece's own memory.
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

  /** A problem as the answer; where one has begun, the client has to see that it is not whole. */
  fail(problem: Problem): void {
    if (this.#reply.begun) this.#writeHeld();
    this.#reply.fail(problem);
  }

  /** The client has left. */
  close(): void {
    this.scrubbing?.close();
  }

  /** The client has to read something now. @returns when to check whether it does, on the monotonic clock */
  watchClient(): number {
    const { idleMs } = this.#f.route.timeouts;
    this.#clientUntilMonoMs = deadline(this.#context.clock, idleMs);
    return this.#nextLook();
  }

  /** Progress resets the time. @returns when to check again; undefined where the client read nothing for the whole time */
  lookAtClient(): number | undefined {
    if (!this.#reply.standsStill()) return this.watchClient();
    return this.#context.clock.monoMs() >= this.#clientUntilMonoMs ? undefined : this.#nextLook();
  }

  #nextLook(): number {
    return deadline(this.#context.clock, this.#f.route.timeouts.idleMs / CLIENT_LOOKS);
  }
}
