import type { Problem } from '../base/problem.ts';
import type { Attempt, AttemptOwner } from './attempt.ts';
import { REPLAY_LIMIT_BYTES } from './client/request-body.ts';

/** Gets the answer in the end. */
export type AnswerOwner = AttemptOwner & Required<Pick<AttemptOwner, 'received' | 'ended'>>;

/**
 * A 401 that waits for a new token. It may turn out to be the answer after all, so what follows it meanwhile is kept:
 * pieces of its body, its end (a HEAD has nothing else), or the break of its connection.
 */
export class HeldAnswer implements AttemptOwner {
  readonly #attempt: Attempt;
  readonly crash: AttemptOwner['crash'];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #end: ((owner: AnswerOwner) => void) | undefined;

  /** @param crash ends the request by a fault of ours */
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

  /** The 401 is the answer: the owner gets what has come, and what is still to come. */
  giveTo(owner: AnswerOwner): void {
    this.#attempt.giveTo(owner);
    for (const piece of this.#pieces) owner.received(this.#attempt, piece);
    this.#end?.(owner);
  }
}
