import type { RequestEvent } from '../base/events.ts';

/** The event of a new request. Always with the same members in the same order, so that V8 gives all events one shape. */
export function newRequestEvent(requestId: string, method: string, startedMonoMs: number): RequestEvent {
  return {
    type: 'request',
    requestId,
    requestIdHeader: undefined,
    method,
    path: '',
    route: '',
    credential: '',
    status: 0,
    code: undefined,
    startedMonoMs,
    durationMs: 0,
    bytesIn: 0,
    bytesOut: 0,
    aborted: false,
    why: undefined,
    tokenState: undefined,
    tokenSinceMonoMs: -1,
    tokenWait: undefined,
    attempt: undefined,
    detail: undefined,
    remedy: undefined,
    timeLimit: undefined,
    brokeOff: false,
  };
}
