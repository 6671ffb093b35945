import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import { Gateway } from '../../app/gateway.ts';
import { type Event, EventBus } from '../../base/events.ts';
import type { Config } from '../../config/config.ts';
import { decodeContent } from '../../login/content-coding.ts';
import { answerOf, type LoginServer, type Question } from '../../login/login-server.ts';
import { UpstreamPools } from '../../upstream/pools.ts';
import { forOneRequest } from '../online/request-check.ts';
import { endingInOrder } from '../signals.ts';
import type { CurlLine } from './curl-line.ts';
import type { CurlRequest } from './curl-request.ts';
import { lineQuestion, printedQuestion } from './sent-requests.ts';

const LIMIT_MS = 60_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

interface Comparison {
  readonly equal: boolean;
  /** For a person, a line for each thing that was compared. */
  readonly words: string;
}

/**
 * Sends the line's request as it stands, and the same one through bearerd, and compares the answers.
 *
 * @throws UsageError if a variable of the line is not set.
 */
export async function tryBoth(line: CurlLine, request: CurlRequest, config: Config): Promise<Comparison> {
  const pools = new UpstreamPools(config);
  try {
    const server = pools.ofOrigin(request.origin, config.timeouts.connectMs);
    const [direct, proxied] = await endingInOrder(async () => [
      await answer(server, lineQuestion(line, request)),
      await throughBearerd(config, printedQuestion(line, request)),
    ]);
    return compare(direct, proxied);
  } finally {
    pools.destroy();
  }
}

async function throughBearerd(config: Config, question: Question): Promise<Answer | string> {
  const key = randomBytes(32).toString('hex');
  let failure: string | undefined;
  const events = new EventBus((event: Event) => {
    if (event.type === 'upstream-failed') failure = event.detail;
  });
  const gateway = new Gateway({ config: forOneRequest(config, key), events });
  try {
    await gateway.start();
    const headers = [...question.headers, 'x-bearerd-key', key];
    const answered = await answer(local(gateway.urls[0]!), { ...question, headers });
    return failure ?? answered;
  } finally {
    await gateway.destroy();
  }
}

/** The proxy that was just started, as a server for one question. */
function local(url: string): LoginServer {
  const { host, hostname, port } = new URL(url);
  return {
    origin: url,
    host,
    headerSizeBytes: 1024 * 1024,
    connect: (done) => {
      const socket = net.connect(Number(port), hostname);
      socket.once('connect', () => done(null, socket)).once('error', (error) => done(error, null));
    },
  };
}

/** @returns the answer, or in words why there is none */
async function answer(server: LoginServer, question: Question): Promise<Answer | string> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    const steps = { connected: false, answered: false };
    const response = await answerOf(server, question, steps, signal);
    const contentType = response.headers['content-type'] ?? '';
    return { status: response.statusCode!, contentType, body: await bodyOf(response) };
  } catch (error) {
    return signal.aborted
      ? `no answer within ${LIMIT_MS / 1000} s`
      : `no answer (${(error as { code?: string }).code ?? 'failed'})`;
  }
}

/** As much of the body as is compared, without its coding: one that never ends is cut here. */
async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_BODY_BYTES) break;
  }
  const body = Buffer.concat(pieces);
  try {
    return Buffer.from(decodeContent(body, response.headers['content-encoding'], MAX_BODY_BYTES));
  } catch {
    return body;
  }
}

/** Pure. */
function compare(direct: Answer | string, proxied: Answer | string): Comparison {
  if (typeof direct === 'string' || typeof proxied === 'string') {
    const say = (answer: Answer | string) =>
      typeof answer === 'string' ? answer : `status ${answer.status}`;
    return { equal: false, words: `  curl: ${say(direct)}\n  bearerd: ${say(proxied)}\n` };
  }
  const rows = [
    ['status', String(direct.status), String(proxied.status)],
    ['content type', direct.contentType, proxied.contentType],
  ] as const;
  const bodies = direct.body.equals(proxied.body);
  const words = rows.map(([what, a, b]) =>
    a === b
      ? `  ${what}: equal (${a === '' ? 'none' : a})\n`
      : `  ${what}: ${a || 'none'}, and by bearerd ${b || 'none'}\n`,
  );
  const [a, b] = [direct.body.length, proxied.body.length];
  const alike = direct.status === proxied.status ? REFUSED_ALIKE[direct.status] : undefined;
  words.push(bodies ? `  body: equal (${a} bytes)\n` : `  body: differs (${a} bytes, and by bearerd ${b})\n`);
  if (alike !== undefined) words.push(`  ${alike}\n`);
  return { equal: bodies && rows.every(([, x, y]) => x === y), words: words.join('') };
}

/** What to say if both get this status: it has nothing to do with bearerd. */
const REFUSED_ALIKE: Readonly<Record<number, string>> = {
  401: "The API refuses the line's own credential, with bearerd and without: put one that works in its place.",
  403: 'The API does not allow this call to the account of the line, with bearerd and without: ask those who run it.',
};
