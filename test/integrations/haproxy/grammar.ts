import { randomFrom } from '../../support/random.ts';

/** A request. Each character of `bytes` is a byte. */
export interface Generated {
  readonly method: string;
  readonly bytes: string;
}

export class Dice {
  readonly #random: () => number;
  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }
  chance(probability: number): boolean {
    return this.#random() < probability;
  }
  one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)]!;
  }
}

const PREFIXES = [
  '',
  '',
  '/companies',
  '/svc',
  '/api',
  '/api/admin',
  '/open',
  '/kept',
  '/API/Old',
  '/apiary',
  '/Svc',
];
const ENDS = [
  '',
  '/',
  '/x',
  '/a.b/c-d',
  '/Orders/01HXYZ',
  '/v2/~x',
  "/it's(1)",
  '/a:b@c,d',
  '/x/',
  '/data/companies',
];
/** Paths that an upstream may read in another way, or that no client should send. */
const ODD_ENDS = [
  '/a%2Fb',
  '/%61',
  '//x',
  '/./x',
  '/../x',
  '/%2e%2e/x',
  '/x;v=1',
  '/x;/../y',
  '/caf%C3%A9',
  '/caf%e9',
  '/%',
  '/a\\b',
  '/...',
  '/x.',
  '/a%00',
  '/[x]',
  '/x{y}',
  '/x|y',
  '/api/identity/v1/session/x',
  '/identity/v1/session.json',
];
const QUERIES = ['', '', '', '?', '?a=b&c', '?x=/../y', '?q=%zz', '?[]={}"|^`', '?api_key=1', '?a?b'];
const PLAIN_LINES = [
  'accept: */*',
  'User-Agent: test/1',
  'Accept-Encoding: gzip',
  'X-Custom:  padded \t',
  'X-Empty:',
  'cookie: a=b; c=d',
  'Authorization: Bearer mine',
  'X-Api-Key: mine',
  'X-Forwarded-For: 192.0.2.1',
  'X-Location: /v2/api/x',
  'X-Latin: caf\xe9',
  'Range: bytes=0-1',
  'If-None-Match: "x"',
  'Connection: keep-alive',
];
const ODD_LINES = [
  'Connection: X-Custom',
  'Connection: keep-alive, authorization',
  'Connection: close',
  'Keep-Alive: timeout=5',
  'TE: trailers',
  'Trailer: X-T',
  'Proxy-Connection: keep-alive',
  'Proxy-Authorization: Basic eDp5',
  'X-Bearerd-Key: k',
  'X_Api_Key: mine',
  'x-api_key: mine',
  'Via: 1.0 other',
  'Via: 1.1 bearerd (/companies)',
  'Origin: http://localhost',
  'Origin: https://evil.example',
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Site: same-origin',
  'Expect: 100-continue',
  'Expect: something',
  'Upgrade: h2c',
  'HTTP2-Settings: AAA',
  'Cookie: second=1',
  'Authorization: Basic second',
  'Content-Type: text/plain',
  'Content-Type: text/html',
  'X-Fold: a\r\n b',
  'X-Control: a\x01b',
  'X-Delete: a\x7fb',
  'X-Tab: a\tb',
  'X-Quote: "a, b"; c=\\"',
  'X Name: a',
  'X-Space : a',
  'X_Custom: a',
  "X!#$&'*.^`|~: a",
  'X-Line: a\nX-Injected: b',
  ': a',
  'X-Nothing',
  'Content-Length: +0',
  'Content-Length: 0, 0',
  'Content-Length: ',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Cookie: $Version=1; a=b',
];
const HOSTS = [
  'localhost',
  'LOCALHOST:9182',
  '127.0.0.1',
  '[::1]:80',
  'x.localhost',
  'sidecar',
  'localhost.',
  'orders.localhost',
  'Orders.LOCALHOST:9182',
  'crm.localhost:80',
  'intranet.example',
];
const ODD_HOSTS = [
  'evil.example',
  'localhost.evil.example',
  'orders.localhost.',
  'a.intranet.example',
  'orders.localhost@intranet.example',
  'evil.example,localhost',
  'localhost, evil.example',
  'evil.example@localhost',
  'localhost:80:80',
  '',
  'localhost:x',
  '127.0.0.2',
  'a b',
  'xn--caf-dma.example',
];
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ODD_METHODS = ['PROPFIND', 'QUERY', 'TRACE', 'PURGE', 'get', 'M-SEARCH', 'NOPE'];
const LOCATIONS = [
  '/v2/api/x?y#z',
  '/v2/data/companies',
  '/v2/data/companies/1',
  '/v2//evil.example',
  '/v2',
  '/v2?x',
  '/elsewhere',
  'ORIGIN/v2/api/x',
  'ORIGIN/v2/data/companies/1?a',
  'ORIGIN',
  'ORIGIN/v2?q',
  'ORIGIN/other',
  'ORIGIN/v2/orders/7?a',
  'ORIGIN/v2/crm/7',
  '/v2/orders/7',
  '/v2/crm#x',
  '//HOST/v2/x',
  '//evil.example/v2/x',
  'https://other.example/v2/x',
  'relative/x',
  '?x',
  'own:/x',
];

/** Mostly plain requests; about a third have something odd. */
export function generate(seed: number, origin: string): Generated {
  const dice = new Dice(seed * 7919 + 1);
  const odd = (probability = 0.05) => dice.chance(probability);
  const method = odd() ? dice.one(ODD_METHODS) : dice.one(METHODS);
  let target = dice.one(PREFIXES) + dice.one(odd(0.15) ? ODD_ENDS : ENDS) + dice.one(QUERIES);
  if (!target.startsWith('/')) target = `/${target}`;
  if (odd(0.03))
    target = dice.one([
      `http://localhost${target}`,
      `http://evil.example${target}`,
      `http://orders.localhost${target}`,
      '*',
      `${target}#f`,
    ]);
  const lines = [`Host: ${dice.one(odd() ? ODD_HOSTS : HOSTS)}`];
  if (odd(0.02)) lines.push(dice.one(['Host: localhost', 'Host: other']));
  for (let n = dice.one([0, 1, 2, 3]); n > 0; n--) lines.push(dice.one(PLAIN_LINES));
  while (odd(0.12)) lines.push(dice.one(ODD_LINES));
  if (dice.chance(0.3)) {
    const location = dice.one(LOCATIONS).replace('ORIGIN', origin).replace('HOST', new URL(origin).host);
    lines.push(
      `X-Say-Location: ${location}`,
      `X-Say-Link: <${location}>; rel=next, <x>; anchor="${location}"`,
    );
  }
  const { framing, body } = bodyOf(dice, method);
  const version = odd(0.03) ? '1.0' : '1.1';
  return {
    method,
    bytes: `${method} ${target} HTTP/${version}\r\n${[...lines, ...framing].join('\r\n')}\r\n\r\n${body}`,
  };
}

function bodyOf(dice: Dice, method: string): { readonly framing: string[]; readonly body: string } {
  const usual = ['POST', 'PUT', 'PATCH'].includes(method);
  if (!dice.chance(usual ? 0.9 : 0.05))
    return { framing: dice.chance(0.1) ? ['Content-Length: 0'] : [], body: '' };
  const body = 'b'.repeat(dice.one([1, 10, 1_000, 16_384, 16_385, 70_000]));
  if (dice.chance(0.15))
    return {
      framing: ['Transfer-Encoding: chunked'],
      body: `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    };
  return { framing: [`Content-Length: ${body.length}`], body };
}
