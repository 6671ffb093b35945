import { type Chance, mutate } from './chance.ts';

/** Requests as clients, attackers and broken programs write them. */

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'QUERY', 'REPORT'];
const ODD_METHODS = ['TRACE', 'CONNECT', 'get', 'FOO', 'M-SEARCH', 'DESCRIBE', 'PRI', 'G\xcbT', ''];
const PREFIXES = [
  '/',
  '/keys',
  '/open',
  '/closed',
  '/users',
  '/keep',
  '/reject',
  '/read',
  '/rw',
  '/other',
  '/moved',
];
const SESSION = '/api/identity/v1/session';
const WORDS = [
  'x',
  'a',
  'keys',
  'open',
  'closed',
  '401',
  'v1',
  'users',
  '',
  '..',
  '.',
  'a b',
  'session',
  'other',
];
const SEPARATORS = [
  '//',
  '/./',
  '/../',
  '/;/',
  ';v=1/',
  '%2f',
  '%2F',
  '%5c',
  '\\',
  '%252f',
  '/..;/',
  '/%2e%2e/',
  '%00/',
  '%c0%af',
];
const QUERIES = ['?a=b', '?', '?x=1&y=%zz', '?%00', '?u=//evil.example/'];
const ODD_QUERIES = ['?a b', '?a#b', '?\x01', '?\x7f', '??', '?\t', '?a=\xff'];
const HOSTS = [
  'evil.example',
  'localhost.evil.example',
  '',
  '0.0.0.0',
  'localhost:1:2',
  'a@localhost',
  '127.0.0.1',
  '[::1]',
];
const VERSIONS = [
  'HTTP/1.0',
  'HTTP/1.0',
  'HTTP/2.0',
  'HTTP/0.9',
  'HTTP/1.2',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/1',
  '',
];

const AUTHORIZATION = [
  'Authorization: Bearer of-the-client',
  'authorization:Basic eDp5',
  'AUTHORIZATION: ',

  'Authorization_: x',
  'X-Api-Key: of-the-client',
  'X_Api_Key: of-the-client',
  'x-api-key:',
  'Proxy-Authorization: Bearer x',
  'X-Bearerd-Key: wrong',
  'X-Bearerd-Key:',
];
const CONNECTION = [
  'keep-alive',
  'Authorization',
  'authorization, via, host, content-length',
  'Authorization, X-Api-Key',
  'transfer-encoding',
  'upgrade, authorization',
  'x-api-key,,  ,te',
  'keep-alive, cookie, expect',
  '\xff',
  ',',
];
const OTHERS = [
  'Connection: close',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Via: 1.1 other',
  'Cookie: sid=1; sid=2',
  'Origin: http://localhost:3000',
  'Origin: http://evil.example',
  'Origin: null',
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Site: same-origin',
  'Access-Control-Request-Method: PUT',
  'Access-Control-Request-Headers: x',
  'Forwarded: for=1.2.3.4;host=evil.example',
  'X-Forwarded-Host: evil.example',
  'X-Original-URL: /closed',
  'TE: trailers',
  'Trailer: Authorization',
  'Keep-Alive: timeout=5',
  'Proxy-Connection: keep-alive',
  'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  'X-Bytes: \xe5\xff\x80',
  'X-Long: '.padEnd(9_000, 'x'),
  'Content-Type: text/plain; charset',
  'Content-Type: application/json',
  'Accept-Encoding: gzip',
  'Max-Forwards: 0',
  'X-Http-Method-Override: TRACE',
];
/** After these, nothing more is read from the connection. */
const FATAL = [
  ' X-Space: before',
  'no colon at all',
  ': no name',
  'Authorization : Bearer x',
  'Authorization: Bearer x\r\n\tfolded',
  'X: a\0b',
  'X: a\rb',
];
const UPGRADES = [
  'websocket',
  'websocket',
  'h2c',
  'TLS/1.0',
  'HTTP/2.0',
  'x, websocket',
  'websocket, h2c',
  '',
];

function path(chance: Chance): string {
  if (chance.odds(0.04)) return respell(SESSION + chance.pick(['', '/x', 's', '.json', '?a']), chance, 0.2);
  const prefix = chance.pick(PREFIXES);
  let text: string = prefix === '/' ? '/x1' : prefix;
  for (let n = chance.below(4); n > 0; n--) {
    text += chance.mostly('/', 0.12, SEPARATORS) + chance.mostly('x1', 0.6, WORDS);
  }
  return respell(text, chance, chance.odds(0.2) ? 0.2 : 0);
}

/** Some letters as escapes, escapes of escapes, or in the other case. */
function respell(text: string, chance: Chance, odds: number): string {
  if (odds === 0) return text.replaceAll(' ', '%20');
  return text.replace(/(?!^)[a-z/.]/g, (letter) => {
    if (!chance.odds(odds)) return letter;
    const hex = letter.charCodeAt(0).toString(16);
    return chance.pick([`%${hex}`, `%${hex.toUpperCase()}`, `%25${hex}`, letter.toUpperCase()]);
  });
}

function target(chance: Chance, bold: number): string {
  const queries = chance.odds(bold / 3) ? ODD_QUERIES : QUERIES;
  const own = path(chance) + chance.mostly('', 0.25, queries);
  if (!chance.odds(bold / 8)) return own;
  return chance.pick([
    `http://localhost${own}`,
    `http://evil.example${own}`,
    `HTTP://LOCALHOST:80${own}`,
    `http://a@localhost${own}`,
    `//evil.example${own}`,
    '*',
    'evil.example:443',
    '',
    own.slice(1),
  ]);
}

function chunks(chance: Chance, bold: number): string {
  const odds = bold / 15;
  let text = '';
  for (let n = chance.below(4); n > 0; n--) {
    const data = 'GET /closed HTTP/1.1\r\nHost: u\r\n\r\n'.slice(0, 1 + chance.below(33));
    const size = chance.mostly(data.length.toString(16), odds, [
      '-1',
      '0x5',
      'g',
      '',
      'fffffffffffffffff',
      '1 ',
      '+3',
    ]);
    const extension = chance.mostly('', odds, [';a=b', ';\n', '; a', ';"\r\n']);
    text += `${size}${extension}\r\n${data}${chance.mostly('\r\n', odds, ['\n', '', 'x\r\n'])}`;
  }
  return (
    text +
    chance.mostly('0\r\n\r\n', odds, [
      '0\r\nAuthorization: Bearer t\r\n\r\n',
      '0\r\nX: y\r\n\r\n',
      '0\r\n',
      '00\r\n\r\n',
    ])
  );
}

/** Framing lines, and the body that they may or may not mean. */
function body(chance: Chance, bold: number): { lines: string[]; bytes: string } {
  const text = 'GET /keys/x HTTP/1.1\r\nHost: localhost\r\n\r\n'
    .repeat(1 + chance.below(2))
    .slice(0, chance.below(80));
  const length = `Content-Length: ${text.length}`;
  if (chance.odds(0.5)) return { lines: [length], bytes: text };
  if (chance.odds(0.95 - bold / 4))
    return { lines: ['Transfer-Encoding: chunked'], bytes: chunks(chance, bold) };
  return chance.pick([
    { lines: [length, 'Transfer-Encoding: chunked'], bytes: chunks(chance, bold) },
    { lines: [length, length], bytes: text },
    { lines: [length, 'Content-Length: 3'], bytes: text },
    { lines: ['Transfer-Encoding: gzip, chunked'], bytes: chunks(chance, bold) },
    { lines: ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], bytes: chunks(chance, bold) },
    { lines: ['Transfer-Encoding: \x0bchunked'], bytes: chunks(chance, bold) },
    { lines: ['Transfer-Encoding: xchunked'], bytes: chunks(chance, bold) },
    { lines: ['Transfer-Encoding : chunked'], bytes: chunks(chance, bold) },
    {
      lines: [
        `Content-Length: ${chance.pick(['+5', '0x5', '5,5', '-1', '1e1', '', '99999999999999999999'])}`,
      ],
      bytes: text,
    },
    { lines: [], bytes: text },
  ]);
}

/** One request by the grammar, with as much that is odd as the case is bold. */
function compose(chance: Chance, bold: number, fixed: readonly string[]): string {
  const method = chance.mostly('GET', 0.5, chance.odds(bold / 4) ? ODD_METHODS : METHODS);
  const upgrade = chance.odds(0.04);
  const framed =
    upgrade || chance.odds(method === 'GET' ? 0.9 : 0.3) ? { lines: [], bytes: '' } : body(chance, bold);
  const lines = [
    `Host: ${chance.mostly('localhost', bold / 8, HOSTS)}`,
    ...chance.some(AUTHORIZATION, chance.odds(0.4) ? 2 : 0),
    ...(chance.odds(0.25 * bold) ? [`Connection: ${chance.pick(CONNECTION)}`] : []),
    ...chance.some(OTHERS, chance.odds(bold / 2) ? 3 : 0),
    ...(upgrade ? ['Connection: Upgrade', `Upgrade: ${chance.pick(UPGRADES)}`] : []),
    ...(chance.odds(0.15 * bold * bold) ? [chance.pick(FATAL)] : []),
    ...framed.lines,
    ...fixed,
  ];
  const ending = chance.mostly('\r\n', bold / 30, ['\n', '\r']);
  const version = chance.mostly('HTTP/1.1', bold / 10, VERSIONS);
  const head = [`${method} ${target(chance, bold)} ${version}`, ...chance.shuffle(lines)].map(
    (line) => line + ending,
  );
  return `${head.join('')}${ending}${framed.bytes}`;
}

/**
 * The requests of one connection: most of them such that the next one is read, too; of the bytes of some, a few are
 * changed. @param fixed lines that each has
 */
export function requestsOf(chance: Chance, fixed: readonly string[]): Buffer[] {
  const bold = chance.pick([0.01, 0.03, 0.1, 1]);
  const most = bold === 1 ? 4 : 40;
  const requests = Array.from({ length: 1 + chance.below(most) }, () => {
    const bytes = Buffer.from(compose(chance, bold, fixed), 'latin1');
    return chance.odds(bold / 2) ? mutate(bytes, chance) : bytes;
  });
  const last = ['GET /open/last HTTP/1.1', 'Host: localhost', 'Connection: close', ...fixed, '', ''];
  return [...requests, Buffer.from(last.join('\r\n'))];
}
