/** The three forms of RFC 9110 §5.6.7. `Date.parse` alone accepts almost anything, even `1e9 GMT`. */
const FORMS = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** As epoch milliseconds; undefined for anything else. */
export function parseHttpDate(value: string | undefined): number | undefined {
  const text = value?.trim() ?? '';
  if (!FORMS.some((form) => form.test(text))) return undefined;
  // The third form names no zone, and would be read as local time.
  const at = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at;
}

/** `Retry-After` (RFC 9110 §10.2.3) in seconds or as a date, to milliseconds from now; undefined for anything else. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = parseHttpDate(text);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}
