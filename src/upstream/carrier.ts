import type { Socket } from 'node:net';
import type { ConnectionTimes } from '../base/journey.ts';
import type { Problem } from '../base/problem.ts';
import type { ResponseHead } from './response-head.ts';

/** A request as the upstream gets it. */
export interface OutgoingRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values in turn; each character is a byte. `Content-Length` is the client's. `Host` is not included. */
  readonly headers: readonly string[];
  /** The request has a body of unknown length. */
  readonly chunked: boolean;
  /** The part of the body that has been read so far. */
  readonly body: readonly Buffer[];
  /** `body` is the whole body. If false, the rest follows by `write` and `end`. */
  readonly complete: boolean;
  /** The protocol that the client wants to switch to. */
  readonly upgrade: string | undefined;
}

/** Carries one request and its response: an HTTP/1.1 connection, or one stream of an HTTP/2 connection. */
export interface Carrier {
  /** Each large piece of the response has its own memory, which becomes garbage as soon as the piece has been used. */
  readonly leavesGarbage: boolean;
  send(request: OutgoingRequest): void;
  /** @returns false when the connection's buffer is full: wait for `Receiver.drained` */
  write(piece: Buffer): boolean;
  /** The body is complete. */
  end(): void;
  /** Stops reading the response. Pieces that have been read already may still arrive. */
  pause(): void;
  resume(): void;
  /** Gives up the request; the receiver gets no more calls. Before `send`, nothing has been sent to the upstream. */
  abort(): void;
}

/**
 * Whether a failed request may be sent again (RFC 9110 §9.2.2, RFC 9113 §8.7). `unseen`: the upstream has not processed
 * it. `stale`: the upstream has probably not processed it, because it may have closed the connection, which had carried
 * other requests, before this one arrived, or because it requires HTTP/1.1. `http1`: the upstream has certainly not
 * processed it, and requires HTTP/1.1.
 */
export type Repeatable = 'no' | 'stale' | 'unseen' | 'http1';

/**
 * Sends a request and gets its response. In each callback the receiver may call any method of the carrier. After
 * `ended`, `failed` or `switched` neither side calls the other.
 */
export interface Receiver {
  /** A new connection was made or failed. Comes before `ready` or `failed`; not called for a reused connection. */
  opened(times: ConnectionTimes): void;
  /** A connection is available and nothing has been sent. Call `send` or `abort`. */
  ready(carrier: Carrier): void;
  responded(head: ResponseHead): void;
  /** @returns false if the receiver still needs the piece after the call; its memory must not be reused */
  received(piece: Buffer): boolean;
  ended(): void;
  /** @param socket the connection, which the receiver owns from now on */
  switched(head: ResponseHead, socket: Socket, early: Buffer): void;
  /** The request failed, or no connection could be made. */
  failed(problem: Problem, repeatable: Repeatable): void;
  drained(): void;
}

export interface SendOptions {
  /** Use a connection that has carried no request. */
  readonly fresh: boolean;
  /** The request asks for another protocol, which HTTP/2 can't switch to. */
  readonly upgrade: boolean;
  /** Use HTTP/1.1: the upstream refused the request over HTTP/2. */
  readonly http1: boolean;
  /** The body is not kept: once a part of it has been sent, the request can't be sent again. */
  readonly upload: boolean;
  /** The request can't be sent again if its connection closes: use none that may be about to close. */
  readonly once: boolean;
}
