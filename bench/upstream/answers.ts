import { createHash } from 'node:crypto';
import { JSON_BODY, JSON_BODY_8K, LARGE, MIDDLE, PATHS, SMALL, TOKEN } from '../fixtures.ts';

/** What one request gets, decided from its head. */
export interface Plan {
  /** What its body must be, byte for byte. */
  readonly expected: Buffer | undefined;
  /** The answer, once the body is there; `body` is empty unless the plan keeps it. */
  readonly answer: (body: Buffer) => Buffer;
  readonly keepsBody: boolean;
}

const CREDENTIAL = Buffer.from(`: Bearer ${TOKEN}\r\n`);

function message(status: string, body: Buffer, type = 'application/json'): Buffer {
  const head = `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function fixed(status: string, body: Buffer, expected?: Buffer): Plan {
  const bytes = message(status, body);
  return { expected, answer: () => bytes, keepsBody: false };
}

export const WRONG_BODY = message('422 Unprocessable Content', Buffer.from('another body arrived'));
const NO_CREDENTIAL = fixed('403 Forbidden', Buffer.from('no credential arrived'));
const NOT_FOUND = fixed('404 Not Found', Buffer.from('nothing here'));
const LOGIN = fixed('200 OK', Buffer.from(`{"accessToken":"${TOKEN}","expires_in":3600}`));

const PLANS = new Map<string, Plan>([
  [`POST ${PATHS.session}`, LOGIN],
  [`GET ${PATHS.small}`, fixed('200 OK', SMALL)],
  [`POST ${PATHS.small}`, fixed('200 OK', SMALL, JSON_BODY)],
  [`POST ${PATHS.many}`, fixed('200 OK', SMALL, JSON_BODY_8K)],
  [`GET ${PATHS.middle}`, fixed('200 OK', MIDDLE)],
  [`GET ${PATHS.large}`, fixed('200 OK', LARGE)],
  [`POST ${PATHS.large}`, fixed('200 OK', SMALL, LARGE)],
]);

/** @param head from the request line to the empty line. */
export function planFor(head: Buffer): Plan {
  const target = head.toString('latin1', 0, head.indexOf(' HTTP/1.1\r\n'));
  const plan = PLANS.get(target);
  // In each request, and not only in the first: a contender that forgets it once in a while is found out.
  if (plan !== LOGIN && !head.includes(CREDENTIAL)) return NO_CREDENTIAL;
  if (plan !== undefined) return plan;
  return target.endsWith(` ${PATHS.verify}`) ? describing(head) : NOT_FOUND;
}

function describing(head: Buffer): Plan {
  const authorization = head
    .toString('latin1')
    .split('\r\n')
    .filter((line) => /^authorization:/i.test(line))
    .map((line) => line.slice('authorization:'.length).trim());
  const answer = (body: Buffer) => {
    const sha256 = createHash('sha256').update(body).digest('hex');
    return message('200 OK', Buffer.from(JSON.stringify({ authorization, sha256 })));
  };
  return { expected: undefined, answer, keepsBody: true };
}
