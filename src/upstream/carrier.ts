import type { Socket } from 'node:net';
import type { ConnectionTimes } from '../base/journey.ts';
import type { Problem } from '../base/problem.ts';
import type { ResponseHead } from './response-head.ts';

/** A request as it is sent upstream. */
export interface OutgoingRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values in turn, each character a byte; `Content-Length` as the client sent it. Without `Host`. */
  readonly headers: readonly string[];
  /** The request has a body of unknown length. */
  readonly chunked: boolean;
  /** The part of the body that has come. */
  readonly body: readonly Buffer[];
  /** `body` is all of it; else `write` and `end` follow. */
  readonly complete: boolean;
  /** The protocol that the client wants to switch to. */
  readonly upgrade: string | undefined;
}

/** What carries one request and its response: an HTTP/1.1 connection, or a stream of an HTTP/2 connection. */
export interface Carrier {
  /** Each large piece of the response has memory of its own, which is garbage once the piece has passed. */
  readonly leavesGarbage: boolean;
  send(request: OutgoingRequest): void;
  /** False when it takes no more at present: `Receiver.drained` tells when it does. */
  write(piece: Buffer): boolean;
  /** The body is whole. */
  end(): void;
  /** No more of the response for now; what has been read already may still come. */
  pause(): void;
  resume(): void;
  /** The request is given up; the receiver gets no more calls. Before `send`, the upstream has seen nothing of it. */
  abort(): void;
}

/**
 * How a request that failed may be sent again (RFC 9110 §9.2.2, RFC 9113 §8.7): `unseen`: the upstream has ignored it;
 * `stale`: the connection had carried others before, and may have been closed before it came;
 * `http1`: the upstream has ignored it, and HTTP/2 can't carry it.
 */
export type Repeatable = 'no' | 'stale' | 'unseen' | 'http1';

/**
 * Sends a request and gets its response. Each call may lead to any call of the carrier. After `ended`, `failed`
 * and `switched` neither calls the other.
 */
export interface Receiver {
  /** A connection was made for it, or could not be: comes before `ready` or `failed`, and not where one is used again. */
  opened(times: ConnectionTimes): void;
  /** A connection is ready, and nothing has been sent. Call `send` or `abort`. */
  ready(carrier: Carrier): void;
  responded(head: ResponseHead): void;
  /** @returns false where the piece is still needed after the call, and its bytes may not be used for others */
  received(piece: Buffer): boolean;
  ended(): void;
  /** @param socket the connection, which belongs to the receiver from here on */
  switched(head: ResponseHead, socket: Socket, early: Buffer): void;
  /** Also where no connection was made. */
  failed(problem: Problem, repeatable: Repeatable): void;
  drained(): void;
}

export interface SendOptions {
  /** Use a connection that has carried nothing before. */
  readonly fresh: boolean;
  /** The request wants to switch protocols, which HTTP/2 can't. */
  readonly upgrade: boolean;
  /** HTTP/2 can't carry it. */
  readonly http1: boolean;
  /** Once it has begun to go up, its body can't be sent again, whatever the upstream says. */
  readonly upload: boolean;
  /** The request can't be sent again if its connection ends: it takes no connection that might be about to end. */
  readonly once: boolean;
}
