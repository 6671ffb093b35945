import { STATUS_CODES } from 'node:http';
import t from 'tap';
import { chunked, gatewayFor } from '../support/gateway.ts';
import { http2Front } from '../support/h2-front.ts';
import { CA_FILE } from '../support/h2-upstream.ts';
import type { HttpMessage, MessageHead } from '../support/http-message.ts';
import { randomFrom } from '../support/random.ts';
import { RawClient, type RawResponse } from '../support/raw-client.ts';
import { head, RawUpstream, type UpstreamRequest } from '../support/raw-upstream.ts';
import { share } from '../support/share.ts';

// Each generated request goes to a recording upstream twice: directly, and through bearerd. A difference that
// docs/forwarding.md does not list is a fault. A failure names its seed; SEED=n runs that case alone.
const CASES = share(2_500);

/** Headers of one hop, in either direction. `content-length` is compared as framing, and `host` is the upstream's. */
const OF_THE_HOP = new Set(
  'host connection keep-alive proxy-connection te trailer transfer-encoding upgrade content-length expect'.split(
    ' ',
  ),
);

class Dice {
  readonly #random: () => number;
  constructor(seed: number) {
    this.#random = randomFrom(seed * 7919 + 1);
  }
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }
  some<T>(of: readonly T[], most: number): T[] {
    return Array.from({ length: this.below(most + 1) }, () => this.one(of));
  }
}

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'PROPFIND',
  'QUERY',
  'REPORT',
  'M-SEARCH',
  'PURGE',
];
const TARGETS = [
  '/',
  '/x',
  '/a/x%2Fy',
  "/%5Bid%5D/a%2520b/c%20d/@2x:~!$'()*,",
  '/caf%E9',
  '/p?',
  '/p??',
  '/p?a&a=1&a=2&&',
  '/p?x=%',
  '/p?a=b?c',
  '/x;v=1?y',
  '/a//b',
  '/.well-known/x',
  '/a.b/c.',
  '/o_AbC/FIND',
  '/q/%2F/guest?/../z',
  '/x?%00',
];
const REQUEST_LINES = [
  'Accept: */*',
  'accept-encoding: gzip, br',
  'X-Odd_Name: a',
  'X-Repeat: 1',
  'x-repeat: 2',
  'X-Empty:',
  'X-Latin: caf\xe9',
  'X-Utf8: \xe6\x97\xa5',
  'X-Tab: a\tb',
  'Cookie: a=1; b=2',
  'Authorization: Basic x',
  'X-Forwarded-For: 1.2.3.4',
  'Via: 1.1 other',
  'Content-Type: text/plain',
  'Content-Type: ;;',
  'content-type: multipart/form-data',
  'Range: bytes=0-1',
  'If-None-Match: "x"',
  `X-Long: ${'y'.repeat(3_000)}`,
  'TE: trailers',
  'Keep-Alive: timeout=3',
  'X-Space:   padded   ',
  'User-Agent: t',
];
const CONNECTION_LINES = [
  '',
  '',
  '',
  'Connection: keep-alive',
  'Connection: X-Named, authorization\r\nX-Named: 1',
  'connection: TE',
];
const STATUSES = [
  '200 OK',
  '200 OK',
  '201 Created',
  '204 No Content',
  '205 Reset Content',
  '206 Partial Content',
  '301 Moved',
  '304 Not Modified',
  '400 Bad',
  '403 Forbidden',
  '404 ',
  "418 I'm a teapot",
  '429 Slow',
  '500 Oops',
  '503 Busy',
  '299 Odd caf\xc3\xa9',
];
const RESPONSE_LINES = [
  'Content-Type: text/plain',
  'Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
  'Set-Cookie: b=2',
  'Link: <x>',
  'link: <y>',
  'ETag: "1"',
  'X-Name: \xe6\x97\xa5',
  'Content-Disposition: attachment; filename="\xe5.pdf"',
  'Content-Encoding: gzip',
  'WWW-Authenticate: A',
  'WWW-Authenticate: B',
  'Date: Wed, 21 Oct 2015 07:28:00 GMT',
  'Server: x',
  'X-Empty:',
  'Via: 1.0 other',
  'Retry-After: 5',
  'Location: https://elsewhere.example/a',
  `X-Long: ${'z'.repeat(3_000)}`,
  'Keep-Alive: timeout=9',
  'Connection: X-Hop\r\nX-Hop: 1',
];
const BODIES = [
  '',
  'x',
  '{"a":1}',
  'GET /evil HTTP/1.1\r\nHost: u\r\n\r\n',
  '\x00\xff\r\n',
  'b'.repeat(20_000),
  'c'.repeat(70_000),
];

interface Case {
  readonly method: string;
  readonly bytes: string;
  readonly answer: string;
}

function generate(seed: number): Case {
  const dice = new Dice(seed);
  const method = dice.one(METHODS);
  const body = dice.one(BODIES);
  const framing = dice.one(['length', 'chunked', 'none', 'zero']);
  const lines = ['Host: localhost', ...dice.some(REQUEST_LINES, 6), dice.one(CONNECTION_LINES)].filter(
    (line) => line !== '',
  );
  let sent = framing === 'length' ? body : '';
  if (framing === 'length') lines.push(`Content-Length: ${body.length}`);
  else if (framing === 'zero') lines.push('Content-Length: 0');
  else if (framing === 'chunked') {
    lines.push('Transfer-Encoding: chunked');
    sent = body === '' ? '0\r\n\r\n' : chunked(...(body.match(/[\s\S]{1,9000}/g) ?? []));
  }
  const bytes = `${method} ${dice.one(TARGETS)} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${sent}`;
  return { method, bytes, answer: answerOf(dice, method) };
}

function answerOf(dice: Dice, method: string): string {
  const status = dice.one(STATUSES);
  const lines = dice.some(RESPONSE_LINES, 6);
  const bodyless = method === 'HEAD' || status.startsWith('204') || status.startsWith('304');
  const body = dice.one(BODIES);
  if (bodyless) {
    // A length without a body: that of the body that a GET would get.
    if (!status.startsWith('204') && dice.below(2) === 0) lines.push('Content-Length: 9757');
    return head(status, ...lines);
  }
  if (dice.below(2) === 0) return head(status, ...lines, `Content-Length: ${body.length}`) + body;
  const chunks = body === '' ? '0\r\n\r\n' : chunked(...(body.match(/[\s\S]{1,9000}/g) ?? []));
  return head(status, ...lines, 'Transfer-Encoding: chunked') + chunks;
}

/** The header lines that have to be equal, in order and byte for byte. */
function kept({ lines }: MessageHead, dropped: ReadonlySet<string>): string[] {
  return lines
    .filter(([name]) => !OF_THE_HOP.has(name.toLowerCase()) && !dropped.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}`);
}

/** Without the headers that `Connection` names. */
function named({ lines }: MessageHead): string[] {
  return lines
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(',')
        .map((part) => part.trim()),
    );
}

function framingOf(message: HttpMessage): string {
  return message.body.length === 0 ? 'empty' : message.framing;
}

for (const [protocol, cases] of [
  ['HTTP/1.1', CASES],
  ['HTTP/2', CASES / 5],
] as const) {
  t.test(
    `${cases} generated requests and answers pass unchanged except for the listed headers: ${protocol}`,
    async (t) => {
      const upstream = await RawUpstream.startedFor(t);
      const baseUrl = protocol === 'HTTP/2' ? await http2Front(t, upstream.port) : upstream.url;
      const { port, internalErrors } = await gatewayFor(t, {
        baseUrl,
        env: { BEARERD_TLS_CA_FILE: CA_FILE },
      });
      const faults: string[] = [];
      for (const seed of seeds(cases)) {
        const one = generate(seed);
        // The HTTP/2 server of Node ends a 205 after the head.
        if (protocol === 'HTTP/2' && one.answer.startsWith('HTTP/1.1 205')) continue;
        const direct = await record(upstream, upstream.port, one);
        const through = await record(upstream, port, one);
        const found =
          typeof direct === 'string' || typeof through === 'string'
            ? `straight ${typeof direct === 'string' ? direct : 'passed'}, through ${typeof through === 'string' ? through : 'passed'}`
            : compare(
                ...(protocol === 'HTTP/2'
                  ? ([inHttp2(direct), through] as const)
                  : ([direct, through] as const)),
              );
        if (found !== undefined) faults.push(`seed ${seed}: ${found}`);
      }
      t.same(faults.slice(0, 20), []);
      t.same(internalErrors(), []);
    },
  );
}

function seeds(cases: number): number[] {
  return process.env.SEED === undefined
    ? Array.from({ length: cases }, (_, n) => n)
    : [Number(process.env.SEED)];
}

async function record(
  upstream: RawUpstream,
  port: number,
  { method, bytes, answer }: Case,
): Promise<Recorded | string> {
  upstream.requests.length = 0;
  upstream.connections.length = 0;
  upstream.onRequest = ({ connection }) => {
    connection.send(answer);
  };
  const client = await RawClient.to(port);
  const response = await client.send(bytes).response(method);
  client.socket.destroy();
  if (upstream.requests.length !== 1) return `${upstream.requests.length} requests arrived; ${response.text}`;
  const arrived = upstream.last;
  return { arrived, message: await arrived.message, response };
}

/** The same message in HTTP/2: names in lower case, no reason phrase, no headers of one connection. */
function inHttp2({ arrived, message, response }: Recorded): Recorded {
  const lower = ({ lines }: MessageHead) =>
    lines.map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    arrived: { ...arrived, lines: lower(arrived) },
    message,
    response: { ...response, lines: lower(response), reason: STATUS_CODES[response.status] ?? '' },
  };
}

interface Recorded {
  readonly arrived: UpstreamRequest;
  readonly message: HttpMessage;
  readonly response: RawResponse;
}

function compare(direct: Recorded, through: Recorded): string | undefined {
  const requestDrops = new Set(['authorization', 'proxy-authorization', ...named(direct.arrived)]);
  const responseDrops = new Set(named(direct.response));
  const pairs: [string, unknown, unknown][] = [
    ['method', direct.arrived.method, through.arrived.method],
    ['target', direct.arrived.target, through.arrived.target],
    [
      'request headers',
      kept(direct.arrived, requestDrops).join('\n'),
      withoutVia(kept(through.arrived, new Set(['authorization'])), /^via: 1\.1 bearerd \([0-9a-f]+\)$/),
    ],
    ['authorization', 'Bearer tok-1', through.arrived.header('authorization')],
    ['request body', direct.message.body.toString('latin1'), through.message.body.toString('latin1')],
    ['request framing', framingOf(direct.message), framingOf(through.message)],
    [
      'status',
      `${direct.response.status} ${direct.response.reason}`,
      `${through.response.status} ${through.response.reason}`,
    ],
    [
      'response headers',
      kept(direct.response, responseDrops).join('\n'),
      withoutVia(kept(through.response, new Set()), /^via: 1\.1 bearerd$/),
    ],
    ['response body', direct.response.text, through.response.text],
    ['response length', lengthOf(direct.response), lengthOf(through.response)],
  ];
  const different = pairs.find(([, a, b]) => a !== b);
  if (different === undefined) return undefined;
  const [what, expected, got] = different;
  return `${what}\n--- straight\n${String(expected).slice(0, 600)}\n--- through\n${String(got).slice(0, 600)}`;
}

/** A 204 has no length (RFC 9110 §8.6). A 205 has no content (§15.3.6), and may have a length of 0. */
function lengthOf(response: RawResponse): string | undefined {
  const length = response.header('content-length');
  return response.status === 204 || (response.status === 205 && length === '0') ? undefined : length;
}

/** Without our own `Via`, which comes last. */
function withoutVia(lines: string[], own: RegExp): string {
  return own.test(lines.at(-1) ?? '')
    ? lines.slice(0, -1).join('\n')
    : `no own Via last:\n${lines.join('\n')}`;
}
