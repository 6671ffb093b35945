import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import { Gateway } from '../../app/gateway.ts';
import { asBytes } from '../../base/bytes.ts';
import { UsageError } from '../../base/errors.ts';
import { type Event, EventBus } from '../../base/events.ts';
import type { Config } from '../../config/config.ts';
import { answerOf, type LoginServer } from '../../login/login-server.ts';
import { UpstreamPools } from '../../upstream/pools.ts';
import { forOneRequest } from '../online/request-check.ts';
import { endingInOrder } from '../signals.ts';
import type { CurlLine } from './curl-line.ts';
import type { CurlRequest, Field } from './curl-request.ts';
import { isCredential } from './found-credential.ts';
import { givenValue, replaceExpansions } from './given-value.ts';
import { isHeaderKept } from './same-call.ts';

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
      await answer(
        server,
        request.method,
        targetWith(line, request, request.query),
        directHeaders(line, request),
      ),
      await throughBearerd(config, request, line),
    ]);
    return compare(direct, proxied);
  } finally {
    pools.destroy();
  }
}

async function throughBearerd(
  config: Config,
  request: CurlRequest,
  line: CurlLine,
): Promise<Answer | string> {
  const key = randomBytes(32).toString('hex');
  let failure: string | undefined;
  const events = new EventBus((event: Event) => {
    if (event.type === 'upstream-failed') failure = event.detail;
  });
  const gateway = new Gateway({ config: forOneRequest(config, key), events });
  try {
    await gateway.start();
    // What is printed as the same call.
    const target = targetWith(
      line,
      request,
      request.query.filter(({ name }) => !isCredential('query', name)),
    );
    const headers = [...otherHeaders(line, request), 'x-bearerd-key', key];
    const answered = await answer(local(gateway.urls[0]!), request.method, target, headers);
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
async function answer(
  server: LoginServer,
  method: string,
  path: string,
  headers: readonly string[],
): Promise<Answer | string> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    const steps = { connected: false, answered: false };
    const response = await answerOf(server, { method, path, headers }, steps, signal);
    const contentType = response.headers['content-type'] ?? '';
    return { status: response.statusCode!, contentType, body: await bodyOf(response) };
  } catch (error) {
    return signal.aborted
      ? `no answer within ${LIMIT_MS / 1000} s`
      : `no answer (${(error as { code?: string }).code ?? 'failed'})`;
  }
}

/** As much of the body as is compared: one that never ends is cut here. */
async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_BODY_BYTES) break;
  }
  return Buffer.concat(pieces);
}

/** What a client chooses by itself: both sides get the same. */
const OWN =
  /^(?:host|connection|accept-encoding|user-agent|authorization|content-length|expect|te|origin|sec-fetch-.*)$/i;

function otherHeaders(line: CurlLine, { headers }: CurlRequest): string[] {
  return headers
    .filter(({ name }) => !OWN.test(name) && isHeaderKept(name))
    .flatMap(({ name, value }) => [name, resolved(value, line)]);
}

/** The headers of the line, with the credential if it is in them. */
function directHeaders(line: CurlLine, request: CurlRequest): string[] {
  const { headers, user, bearer, cookies } = request;
  const given = headers.filter(({ name }) => /^authorization$/i.test(name) || !OWN.test(name));
  const sent = given.flatMap(({ name, value }) => [name, asBytes(resolved(value, line))]);
  const isAuthorized = given.some(({ name }) => /^authorization$/i.test(name));
  const pair = user === undefined ? undefined : resolved(user, line);
  if (!isAuthorized && pair !== undefined)
    sent.push('Authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  else if (!isAuthorized && bearer !== undefined)
    sent.push('Authorization', asBytes(`Bearer ${resolved(bearer, line)}`));
  if (cookies.length > 0)
    sent.push('Cookie', asBytes(cookies.map((cookie) => pairOf(cookie, line)).join('; ')));
  return sent;
}

function targetWith(line: CurlLine, { path }: CurlRequest, query: readonly Field[]): string {
  const pairs = query.map(({ name, value }) => `${name}=${encodeRest(resolved(value, line))}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** The value of a variable may hold any character; what was written stays as it was. */
function encodeRest(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]|[#"<>]/g, encodeURIComponent);
}

function pairOf({ name, value }: Field, line: CurlLine): string {
  return `${name}=${resolved(value, line)}`;
}

/** With what its variables hold. */
function resolved(text: string, line: CurlLine): string {
  return replaceExpansions(text, (char) => {
    const given = givenValue(char, line, 'the secret');
    if ('text' in given) return given.text;
    if ('command' in given)
      throw new UsageError('--try does not run a command: use "bearerd check --online GET PATH"');
    const value = process.env[given.variable];
    if (value === undefined) throw new UsageError(`${given.variable} is not set`);
    return value;
  });
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
