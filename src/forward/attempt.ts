import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { inWords } from '../base/failures/problem-words.ts';
import type { AttemptRecord, ConnectionTimes } from '../base/journey.ts';
import type { Problem } from '../base/problem.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { Carrier, Receiver, Repeatable } from '../upstream/carrier.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { REPLAY_LIMIT_BYTES } from './client/request-body.ts';
import { retryAfterOf } from './retry-after.ts';
import type { SendingTrace } from './trace.ts';

/**
 * Gets the events of an attempt; the methods are those of `Receiver`. A method may be missing: its event either can't come
 * while this owner has the attempt, or changes nothing.
 */
export interface AttemptOwner {
  connected?(attempt: Attempt, carrier: Carrier): void;
  responded?(attempt: Attempt, head: ResponseHead): void;
  /** @returns false if the piece's memory is still needed after the call */
  received?(attempt: Attempt, piece: Buffer): boolean;
  ended?(attempt: Attempt): void;
  switched?(attempt: Attempt, head: ResponseHead, socket: Socket, early: Buffer): void;
  failed(attempt: Attempt, problem: Problem, repeatable: Repeatable): void;
  drained?(): void;
  /** Our own code has thrown. */
  crash(cause: unknown): void;
}

/** What a new attempt needs. */
interface Start {
  readonly clock: Clock;
  readonly token: AccessToken | undefined;
  readonly trace: SendingTrace | undefined;
  /** The attempt before this one, which got a 401; the rest of its answer is read and dropped. */
  readonly rejected: Attempt | undefined;
  readonly record: AttemptRecord;
}

/**
 * One sending of a request. Most exchanges have one; more follow a 401, or a failure after which `repeats.ts` allows
 * another. Every event of the upstream passes through here to the owner: events without an owner are dropped, and an
 * exception in our own code ends one request only.
 */
export class Attempt implements Receiver {
  /** Undefined until a connection is ready, and once the request has ended. */
  carrier: Carrier | undefined;
  /** The response is not read for now. */
  paused = false;
  readonly token: AccessToken | undefined;
  readonly trace: SendingTrace | undefined;
  readonly rejected: Attempt | undefined;
  readonly #clock: Clock;
  readonly #record: AttemptRecord;
  #owner: AttemptOwner | undefined;
  #dropped = 0;

  constructor(owner: AttemptOwner, { clock, token, trace, rejected, record }: Start) {
    this.#owner = owner;
    this.#clock = clock;
    this.token = token;
    this.trace = trace;
    this.rejected = rejected;
    this.#record = record;
  }

  /** Passes later events to another owner. */
  giveTo(owner: AttemptOwner): void {
    this.#owner = owner;
  }

  /** Drops the rest of the answer. A short rest is read, so that the connection can be used again. */
  drop(): void {
    this.#owner = undefined;
    this.resume();
  }

  /** Cancels the attempt; its later events are dropped. */
  abort(): void {
    this.#owner = undefined;
    const { carrier } = this;
    this.carrier = undefined;
    carrier?.abort();
  }

  opened(times: ConnectionTimes): void {
    this.#record.times = times;
  }

  ready(carrier: Carrier): void {
    this.carrier = carrier;
    this.#record.readyMonoMs = this.#clock.monoMs();
    if (this.#owner === undefined) this.abort();
    else this.#tell((owner) => owner.connected?.(this, carrier));
  }

  responded(head: ResponseHead): void {
    this.#answered(head.status);
    this.#record.retryAfter = retryAfterOf(head);
    this.#tell((owner) => owner.responded?.(this, head));
  }

  received(piece: Buffer): boolean {
    const owner = this.#owner;
    if (owner === undefined) {
      this.#dropped += piece.length;
      if (this.#dropped > REPLAY_LIMIT_BYTES) this.abort();
      return true;
    }
    try {
      return owner.received?.(this, piece) ?? true;
    } catch (cause) {
      owner.crash(cause);
      return false;
    }
  }

  #answered(status: number): void {
    this.#record.status = status;
    this.#record.firstByteMonoMs = this.#clock.monoMs();
    this.trace?.responded(status);
  }

  ended(): void {
    this.carrier = undefined;
    this.#record.lastByteMonoMs = this.#clock.monoMs();
    this.trace?.ended();
    this.#tell((owner) => owner.ended?.(this));
  }

  switched(head: ResponseHead, socket: Socket, early: Buffer): void {
    this.carrier = undefined;
    this.#answered(head.status);
    if (this.#owner === undefined) socket.on('error', () => {}).destroy();
    else this.#tell((owner) => owner.switched?.(this, head, socket, early));
  }

  failed(problem: Problem, repeatable: Repeatable): void {
    this.carrier = undefined;
    this.note(problem);
    this.trace?.failed(problem);
    this.#tell((owner) => owner.failed(this, problem, repeatable));
  }

  /** Records why the attempt failed. The first reason stays: a time limit of ours may come before the failure. */
  note(problem: Problem): void {
    if (this.#record.failure !== undefined) return;
    this.#record.failure = inWords(problem);
    this.#record.failedMonoMs = this.#clock.monoMs();
  }

  drained(): void {
    this.#tell((owner) => owner.drained?.());
  }

  pause(): void {
    this.paused = true;
    this.carrier?.pause();
  }

  resume(): void {
    this.paused = false;
    this.carrier?.resume();
  }

  #tell(act: (owner: AttemptOwner) => void): void {
    const owner = this.#owner;
    if (owner === undefined) return;
    try {
      act(owner);
    } catch (cause) {
      owner.crash(cause);
    }
  }
}
