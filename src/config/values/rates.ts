import type { Parsed } from './kind.ts';
import { formatDuration, parseDuration } from './measures.ts';

/** So many requests in so long. */
export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

const MOST = 1_000_000;
const BOUNDS = { min: 1_000, max: 24 * 3_600_000 };

export const RATE_PATTERN = '^\\d{1,7}/\\d+(ms|s|m|h)$';

/** `60/1m` → 60 requests in 60,000 ms. */
export function parseRate(text: string): Parsed<RateLimit> {
  const [, digits = '', duration = ''] = /^(\d+) *\/ *(.*)$/.exec(text) ?? [];
  if (digits === '') return { problem: 'must be N/DURATION, such as 60/1m' };
  const requests = Number(digits);
  if (requests < 1 || requests > MOST) return { problem: `must allow 1 to ${MOST} requests, such as 60/1m` };
  // `60/m` is how others write it.
  if (/^(ms|s|m|h)$/.test(duration))
    return { problem: `has a unit without a number; write ${requests}/1${duration}` };
  const parsed = parseDuration(duration, BOUNDS);
  if ('problem' in parsed) return { problem: `the duration ${parsed.problem}` };
  return { value: { requests, perMs: parsed.value } };
}

export function formatRate({ requests, perMs }: RateLimit): string {
  return `${requests}/${formatDuration(perMs)}`;
}
