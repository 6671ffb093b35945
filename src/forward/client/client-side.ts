import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestEvent } from '../../base/events.ts';

/** One request as its client sees it, and what it is answered on. */
export interface ClientSide {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The allowed origin that asked, if it was a cross-origin request from a browser. */
  readonly corsOrigin: string | undefined;
  /** Filled in as the request goes its way. */
  readonly event: RequestEvent;
}
