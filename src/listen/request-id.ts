import { randomInt, randomUUID } from 'node:crypto';
import type { RequestEvent } from '../base/events.ts';
import { foldedName, isSameHeader } from '../base/fields.ts';

/** So many characters tell the instances of one machine apart, also those of a day that are started again and again. */
const PREFIX_LENGTH = 8;

/** IDs that no other request has: of this instance, which a prefix by chance stands for, or of another. */
export class RequestIds {
  readonly #prefix = Array.from({ length: PREFIX_LENGTH }, () => randomInt(36).toString(36)).join('');
  #count = 0;

  next(): string {
    return this.#prefix + (++this.#count).toString(36);
  }
}

/** Nothing that a log reader could interpret, or that is longer than a line. */
const GOOD_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/**
 * Gives the request the ID that its client sent, or one that no other has. Of two, none is kept, also where one is written
 * with `_`: the upstream could take the other one.
 *
 * @param header in lower case
 */
export function nameRequest(event: RequestEvent, header: string, raw: readonly string[]): void {
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
