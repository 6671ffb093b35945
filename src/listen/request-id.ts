import { randomInt, randomUUID } from 'node:crypto';
import type { RequestEvent } from '../base/events.ts';
import { foldedName, isSameHeader } from '../base/fields.ts';

/** So many random characters tell the instances on a machine apart, even if they restart all day. */
const PREFIX_LENGTH = 8;

/** Makes IDs that no other request has: a random prefix of this instance, and a count. */
export class RequestIds {
  readonly #prefix = Array.from({ length: PREFIX_LENGTH }, () => randomInt(36).toString(36)).join('');
  #count = 0;

  next(): string {
    return this.#prefix + (++this.#count).toString(36);
  }
}

/** A short ID that no log reader could interpret. */
const GOOD_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/**
 * Gives the request the client's ID, or a unique one. If there are two, even if one is spelled with `_`, neither is kept: the
 * upstream could read the other one.
 *
 * @param header in lower case
 */
export function setRequestId(event: RequestEvent, header: string, raw: readonly string[]): void {
  const folded = foldedName(header);
  let id = '';
  let lines = 0;
  for (let i = 0; i < raw.length; i += 2) {
    if (!isSameHeader(raw[i]!, folded)) continue;
    id = raw[i + 1]!;
    lines++;
  }
  event.requestId = lines === 1 && GOOD_ID.test(id) ? id : randomUUID();
  event.requestIdHeader = header;
}
