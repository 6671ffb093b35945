/** @typedef {import('../status.ts').Status} Status */

/** Requests a second are averaged over this time. */
const RATE_WINDOW_MS = 10_000;

/**
 * A rate comes from two counts some seconds apart, so the proxy keeps nothing for it.
 *
 * @type {{ at: number, counts: Map<string, number> }[]}
 */
let samples = [];
export const ALL = '';

/** @param {Status} status */
export function sample(status) {
  const at = performance.now();
  const counts = new Map(status.routes.map(({ prefix, requests }) => [prefix, requests]));
  counts.set(ALL, status.requestsAnswered);
  const last = samples.at(-1);
  if (last !== undefined && status.requestsAnswered < (last.counts.get(ALL) ?? 0)) samples = []; // The proxy was restarted.
  samples.push({ at, counts });
  while (samples.length > 2 && at - /** @type {{ at: number }} */ (samples[1]).at > RATE_WINDOW_MS)
    samples.shift();
}

/** @param {string} prefix */
export function rate(prefix) {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.at - first.at < 500) return 0;
  return ((last.counts.get(prefix) ?? 0) - (first.counts.get(prefix) ?? 0)) / ((last.at - first.at) / 1_000);
}
