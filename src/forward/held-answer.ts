import type { Problem } from '../base/errors.ts';
import type { ResponseHead } from '../upstream/response-reader.ts';
import type { Attempt } from './attempt.ts';
import { REPLAY_LIMIT_BYTES } from './client/request-body.ts';

/**
 * A 401 that waits for a new token. It may turn out to be the answer after all, so whatever comes of it meanwhile is
 * kept: a piece of its body, its end (a HEAD has nothing else), or the break of its connection.
 */
export class HeldAnswer {
  readonly attempt: Attempt;
  readonly head: ResponseHead;
  readonly body: Buffer[] = [];
  ended = false;
  problem: Problem | undefined;
  #bytes = 0;

  constructor(attempt: Attempt, head: ResponseHead) {
    this.attempt = attempt;
    this.head = head;
  }

  keep(piece: Buffer): void {
    this.body.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > REPLAY_LIMIT_BYTES) this.attempt.pause();
  }
}
