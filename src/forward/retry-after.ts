import { ownCopy } from '../base/bytes.ts';
import type { ResponseHead } from '../upstream/response-head.ts';

/** Seconds, or an IMF-fixdate (RFC 9110 §5.6.7). No other value is shown to people. */
const SECONDS_OR_DATE = /^(?:\d{1,10}|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/;

/** The valid `Retry-After` of a 429 or 503; undefined for other answers. */
export function retryAfterOf({ status, lines: { pairs } }: ResponseHead): string | undefined {
  if (status !== 429 && status !== 503) return undefined;
  for (let i = 0; i < pairs.length; i += 2) {
    if (pairs[i]!.toLowerCase() !== 'retry-after') continue;
    const value = pairs[i + 1]!;
    return SECONDS_OR_DATE.test(value) ? ownCopy(value) : undefined;
  }
  return undefined;
}
