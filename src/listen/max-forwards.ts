import { OTHER } from '../base/fields.ts';
import type { RequestHead } from '../forward/client/request-head.ts';

const NAME = 'max-forwards';
const DIGITS = /^\d+$/;
/** The most that we pass on. RFC 9110 §7.6.2 leaves it to us. */
const MOST = 2 ** 31 - 1;

/** True if an OPTIONS request may not be forwarded any more, so that its recipient answers it (RFC 9110 §7.6.2). */
export function isLastForward({ lines: { pairs, fields } }: RequestHead): boolean {
  return fields.some((field, i) => isCount(field, pairs, i) && Number(pairs[2 * i + 1]) === 0);
}

/** The head of an OPTIONS request as it is forwarded: with one less in `Max-Forwards`, if there is one. */
export function forwardedOnce(head: RequestHead): RequestHead {
  const { pairs, fields } = head.lines;
  if (!fields.some((field, i) => isCount(field, pairs, i))) return head;
  const fewer = [...pairs];
  for (const [i, field] of fields.entries()) {
    if (isCount(field, pairs, i)) fewer[2 * i + 1] = String(Math.min(Number(pairs[2 * i + 1]) - 1, MOST));
  }
  return { ...head, lines: { pairs: fewer, fields } };
}

/** A value that is no number passes as it is: there is nothing to count. */
function isCount(field: number, pairs: readonly string[], i: number): boolean {
  return field === OTHER && pairs[2 * i]!.toLowerCase() === NAME && DIGITS.test(pairs[2 * i + 1]!);
}
