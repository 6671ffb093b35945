const TIMESTAMP =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt ](?<time>\d{2}:\d{2}:\d{2})(?:[.,](?<fraction>\d+))?(?:[Zz]|(?<sign>[+-])(?<hours>\d{2})(?::?(?<minutes>\d{2}))?)?$/;

/**
 * `YYYY-MM-DDTHH:MM:SS[.ffffff][Z|±HH:MM]` (RFC 3339) as epoch milliseconds, or undefined; no zone means UTC.
 * `new Date` would read a time without a zone as local time, and February 30th as March 2nd.
 */
export function parseTimestamp(value: unknown): number | undefined {
  const parts = typeof value === 'string' ? TIMESTAMP.exec(value.trim())?.groups : undefined;
  if (parts === undefined) return undefined;
  const { date, time: written = '', fraction = '', sign = '+', hours = '00', minutes = '00' } = parts;
  // A leap second (RFC 3339 §5.6) is read as the second before it.
  const time = written.replace(/:60$/, ':59');
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3);
  const at = Date.parse(`${date}T${time}.${milliseconds}Z`);
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(`${date}T${time}`)) return undefined;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return at - Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
