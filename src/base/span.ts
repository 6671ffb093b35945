/** A length of time for people, in milliseconds or in the unit that it is about two of or more: `320 ms`, `1.5 s`, `5 min`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 120 * 60_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 48 * 3_600_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
}

/** How long ago a moment was, in whole seconds. */
export function ago(momentMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - momentMs) / 1_000);
  return seconds < 1 ? 'just now' : `${span(seconds * 1_000)} ago`;
}
