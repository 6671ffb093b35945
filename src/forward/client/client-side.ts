import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestEvent } from '../../base/events.ts';

/** One request of a client, and its response. */
export interface ClientSide {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The allowed origin of a cross-origin request from a browser; else undefined. */
  readonly corsOrigin: string | undefined;
  /** Filled in while the request is served. */
  readonly event: RequestEvent;
}
