import type { Problem } from '../base/problem.ts';
import type { Attempt, AttemptOwner } from './attempt.ts';
import { REPLAY_LIMIT_BYTES } from './client/request-body.ts';

/** Gets the rest of an answer that was held. */
export type AnswerOwner = AttemptOwner & Required<Pick<AttemptOwner, 'received' | 'ended'>>;

/**
 * A 401 that is held while a new token may come. If none comes, the 401 is the answer: so everything that follows it is
 * kept, whether pieces of its body, its end, or a broken connection.
 */
export class HeldAnswer implements AttemptOwner {
  readonly #attempt: Attempt;
  readonly crash: AttemptOwner['crash'];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #end: ((owner: AnswerOwner) => void) | undefined;

  /** @param crash called if our own code throws */
  constructor(attempt: Attempt, crash: AttemptOwner['crash']) {
    this.#attempt = attempt;
    this.crash = crash;
    attempt.giveTo(this);
  }

  received(attempt: Attempt, piece: Buffer): boolean {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > REPLAY_LIMIT_BYTES) attempt.pause();
    return false;
  }

  ended(attempt: Attempt): void {
    this.#end = (owner) => owner.ended(attempt);
  }

  failed(attempt: Attempt, problem: Problem): void {
    this.#end = (owner) => owner.failed(attempt, problem, 'no');
  }

  /** The 401 is the answer: passes what has come to the owner, and what comes later, too. */
  giveTo(owner: AnswerOwner): void {
    this.#attempt.giveTo(owner);
    for (const piece of this.#pieces) owner.received(this.#attempt, piece);
    this.#end?.(owner);
  }
}
