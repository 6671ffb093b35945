import type { RequestEvent } from '../../base/events.ts';
import type { AttemptRecord } from '../../base/journey.ts';
import type { Trouble } from './trouble.ts';
import { endOf, isFailed } from './why.ts';

/** Requests that met the same. */
interface Met {
  readonly what: string;
  /** The newest. */
  readonly last: RequestEvent;
  first: RequestEvent;
  times: number;
}

/**
 * What requests met that were served all the same: a failure after which they were sent again, a wait for a token.
 *
 * @param requests the newest first
 * @param bootMs the wall-clock time at zero of the monotonic clock
 */
export function overcome(requests: readonly RequestEvent[], bootMs: number): Trouble[] {
  const met = new Map<string, Met>();
  for (const request of requests) {
    if (isFailed(request)) continue;
    for (const what of metBy(request)) {
      const known = met.get(what);
      if (known === undefined) met.set(what, { what, last: request, first: request, times: 1 });
      else {
        known.first = request;
        known.times++;
      }
    }
  }
  return [...met.values()].map(({ what, last, first, times }) => ({
    subject: what,
    atMs: bootMs + endOf(last),
    sinceMs: bootMs + endOf(first),
    times,
    what: `${what} (${times === 1 ? '' : 'The last: '}${last.method} ${last.path}, ${last.requestId}.)`,
    lasts: false,
  }));
}

function metBy({ attempt, tokenWait }: RequestEvent): string[] {
  const found: string[] = [];
  for (let each = attempt?.before; each !== undefined; each = each.before) found.push(again(each));
  const lost = attempt?.times?.lostAddress;
  if (lost !== undefined)
    found.push(
      `No connection could be made to one of the addresses of the upstream's name (${lost}): bearerd took another address at once, and the request was served. If it lasts, see which of the addresses that DNS gives does not answer.`,
    );
  if (found.length === 0 && tokenWait !== undefined)
    found.push('A request came while there was no token: it waited for a login, and was served.');
  return found;
}

function again({ failure, status }: AttemptRecord): string {
  if (failure !== undefined) return `${failure} The request was sent again, and was served.`;
  if (status === 401)
    return 'The upstream answered 401 to a request: it was sent again with a newer token, and was served.';
  return 'The token ended before a request was sent: it waited for a login, and was served.';
}
