import type { Asked } from './read-outcome.ts';

// The grammar of RFC 9112 as regular expressions over the whole text. Slow, but without states in which to go wrong.
const STATUS_LINE = /^((?:\r\n){0,4}HTTP\/1\.(\d) ([1-9]\d\d)(?: ([^\r\n\0]*))?\r\n)/;
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\r\n/;
const CHUNK_LINE = /^([0-9a-fA-F]{1,13})(?:([ \t]*);([\t\x20-\xff]*))?\r\n/;
const TRAILERS = /^(?:[\t\x20-\xff]+\r\n)*\r\n/;

const MOST_EXTENSION = 16 * 1024;
const MOST_TRAILERS = 64 * 1024;

const REFUSED = 'refused';

/** The grammar does not tell a faulty response from one that breaks off. */
export const asRefused = (outcome: string) => outcome.replace(/(?:fault|broken off)$/, REFUSED);

interface Head {
  readonly minor: string;
  readonly status: number;
  readonly reason: string;
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly rest: string;
}

/**
 * The expected result for a response and the end of its connection, in the form of `outcome`, with `asRefused` applied.
 */
export function referenceOutcome(raw: string, asked: Asked = {}): string {
  const { limitBytes = 1024 } = asked;
  let head = readHead(raw, limitBytes);
  for (let interim = 0; head !== undefined && head.status < 200 && head.status !== 101; interim++) {
    if (interim === 1_000) return ` | ${REFUSED}`;
    head = readHead(head.rest, limitBytes);
  }
  const end = head && readBody(head, asked);
  if (head === undefined || end === undefined) return ` | ${REFUSED}`;
  const lines = head.lines.map(([name, value]) => `${name}: ${value}`).join(', ');
  return `${head.status} ${head.reason} | ${lines} | ${end}`;
}

function readHead(raw: string, limitBytes: number): Head | undefined {
  const start = STATUS_LINE.exec(raw);
  if (start === null || start[1]!.length > limitBytes + 2) return undefined;
  let rest = raw.slice(start[1]!.length);
  const before = rest.length;
  const lines: [string, string][] = [];
  for (let line = FIELD_LINE.exec(rest); line !== null; line = FIELD_LINE.exec(rest)) {
    lines.push([line[1]!, line[2]!]);
    rest = rest.slice(line[0].length);
  }
  if (!rest.startsWith('\r\n') || before - rest.length > limitBytes) return undefined;
  return { minor: start[2]!, status: Number(start[3]), reason: start[4] ?? '', lines, rest: rest.slice(2) };
}

/** Undefined if the framing is ambiguous, so that every reader must refuse it. */
function readBody({ minor, status, lines, rest }: Head, { method, upgrade }: Asked): string | undefined {
  const valuesOf = (name: string) =>
    lines.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  const lengths = valuesOf('content-length');
  const codings = valuesOf('transfer-encoding').map((value) => value.toLowerCase());
  const options = valuesOf('connection').flatMap((value) =>
    value
      .toLowerCase()
      .split(',')
      .map((one) => one.trim()),
  );
  const chunked = codings[0] === 'chunked';
  if (lengths.length + codings.length > 1) return undefined;
  if (lengths.some((value) => !/^\d{1,15}$/.test(value))) return undefined;
  if (codings.some((value) => value !== 'chunked' && value !== 'identity')) return undefined;
  const kept = minor === '0' ? options.includes('keep-alive') && !chunked : true;
  const whole = (body: string, behind: string, keeps = kept && !options.includes('close')) =>
    `${body} | whole, ${keeps && behind === '' ? 'keeps' : 'closes'}`;
  if (status === 101) {
    const asked = upgrade?.toLowerCase().split(/[, ]+/) ?? [];
    const named = valuesOf('upgrade').flatMap((value) => listed(value.toLowerCase()));
    return named.length > 0 && named.every((one) => asked.includes(one)) ? `${rest} | switched` : undefined;
  }
  if (method === 'HEAD' || status === 204 || status === 304) return whole('', rest);
  if (chunked) {
    const { body, behind } = readChunks(rest);
    return behind === undefined ? `${body} | ${REFUSED}` : whole(body, behind);
  }
  const length = Number(lengths[0]);
  if (lengths.length === 0) return whole(status === 205 ? '' : rest, '', false);
  if (rest.length < length) return `${rest} | ${REFUSED}`;
  return whole(rest.slice(0, length), rest.slice(length));
}

function readChunks(raw: string): { body: string; behind: string | undefined } {
  let body = '';
  let rest = raw;
  for (let line = CHUNK_LINE.exec(rest); line !== null; line = CHUNK_LINE.exec(rest)) {
    const [all, digits, space = '', extension = ''] = line;
    if (space.length + extension.length > MOST_EXTENSION) break;
    rest = rest.slice(all.length);
    const size = Number.parseInt(digits!, 16);
    if (size === 0) {
      const trailers = TRAILERS.exec(rest)?.[0];
      const good = trailers !== undefined && trailers.replaceAll('\r\n', '').length <= MOST_TRAILERS;
      return { body, behind: good ? rest.slice(trailers.length) : undefined };
    }
    body += rest.slice(0, size);
    if (!rest.startsWith('\r\n', size)) break;
    rest = rest.slice(size + 2);
  }
  return { body, behind: undefined };
}

/** The elements of a list (RFC 9110 §5.6.1), without blanks around them and without empty ones. */
function listed(value: string): string[] {
  return value
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '');
}
