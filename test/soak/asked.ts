import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { EVENTS, eventOf } from './scale.ts';

/** A request to send. */
export interface Choice {
  readonly id: string;
  readonly kind: 'GET' | 'POST' | 'events' | 'upgrade';
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer | undefined;
  /** The right answer. */
  readonly expected: string;
}

export interface Asked extends Choice {
  readonly status: number;
  readonly text: string;
}

/** The last body is too large to be kept for a second try. */
const BODIES = [300, 16_384, 100_000].map((size) => Buffer.alloc(size, `${size} `));
const DIGESTS = BODIES.map((body) => digestOf(body));
const NO_BODY = digestOf(Buffer.alloc(0));

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Of a hundred, 84 GETs, 12 POSTs, 3 streams of events and an upgrade. */
export function choose(id: string, random: () => number): Choice {
  const dice = random();
  const common = { id, method: 'GET', headers: { 'x-id': id }, body: undefined };
  if (dice < 0.42) return { ...common, kind: 'GET', path: '/thing', expected: `${id} ${NO_BODY}` };
  if (dice < 0.84) return { ...common, kind: 'GET', path: '/thing/chunked', expected: `${id} ${NO_BODY}` };
  if (dice < 0.87)
    return { ...common, kind: 'events', path: '/events', expected: eventOf(id).repeat(EVENTS) };
  if (dice < 0.88) {
    const headers = { 'x-id': id, connection: 'upgrade', upgrade: 'echo' };
    return { ...common, kind: 'upgrade', path: '/tunnel', headers, expected: '' };
  }
  const size = random() < 0.1 ? 2 : Math.floor(random() * 2);
  const [body, digest] = [BODIES[size]!, DIGESTS[size]!];
  const headers = { 'x-id': id, 'x-digest': digest, 'content-length': body.length };
  return { id, kind: 'POST', method: 'POST', path: '/thing', headers, body, expected: `${id} ${digest}` };
}

/** Undefined for the right answer; else the failure in a word or two. */
export function verdictOn({ status, text, expected }: Asked): string | undefined {
  if (status === 200) return text === expected ? undefined : 'wrong';
  return /"code":"([a-z-]+)"/.exec(text)?.[1] ?? `passed ${status}`;
}
