import type { Dispatcher } from 'undici';
import type { Attempt } from './attempt.ts';
import { REPLAY_LIMIT_BYTES } from './request-body.ts';

/**
 * A 401 that waits for a new token. It may turn out to be the answer after all, so whatever comes of it meanwhile is
 * kept: a piece of its body, its end (a HEAD has nothing else), or the break of its connection.
 */
export class HeldAnswer {
  readonly attempt: Attempt;
  readonly status: number;
  readonly reason: string;
  readonly raw: readonly string[];
  readonly body: Buffer[] = [];
  ended = false;
  error: Error | undefined;
  #bytes = 0;

  constructor(attempt: Attempt, status: number, reason: string, raw: readonly string[]) {
    this.attempt = attempt;
    this.status = status;
    this.reason = reason;
    this.raw = raw;
  }

  keep(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.body.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > REPLAY_LIMIT_BYTES) controller.pause();
  }
}
