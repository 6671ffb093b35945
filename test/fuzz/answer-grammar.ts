import { type Chance, mutate, split } from './chance.ts';

/** Answers as upstreams, broken upstreams and hostile ones write them. */

const STATUSES = [
  '200',
  '200',
  '200',
  '201',
  '204',
  '205',
  '206',
  '301',
  '304',
  '400',
  '401',
  '403',
  '404',
  '413',
  '429',
  '500',
  '503',
];
const ODD_STATUSES = ['099', '999', '1000', '20', '-1', '100', '101', '102', '103', '199', '600', 'abc', ''];
/** A body after these is one answer too many; and a `100 Continue` without a request for it may count as wrong. */
const BODYLESS = /(?:^|\r\n\r\n)HTTP\/1\.1 (?:204|205|304)/;
const REASONS = ['OK', '', 'Gr\xc3\xbc\xc3\x9fe', '\xff', 'a\tb', 'All is well'];
const VERSIONS = ['HTTP/1.0', 'HTTP/2', 'HTTP/1.2', 'http/1.1', 'ICY', ''];
const LINES = [
  'Content-Type: text/plain',
  'Content-Type: application/problem+json; x',
  'Date: Thu, 01 Jan 1970 00:00:00 GMT',
  'Server: \xe5\xff',
  'Set-Cookie: a=1',
  'Set-Cookie: b=2; Path=/',
  'Location: /elsewhere',
  'Location: //evil.example/x',
  'Location: http://127.0.0.1:1/x',
  'Location: \xff\x80',
  'Connection: close',
  'Connection: keep-alive, X-Drop',
  'Connection: content-length, via, transfer-encoding',
  'X-Drop: 1',
  'Keep-Alive: timeout=1',
  'Proxy-Authenticate: Basic',
  'WWW-Authenticate: Bearer',
  'Upgrade: websocket',
  'Trailer: X-Sum',
  'Via: 1.0 other',
  'Vary: *',
  'Access-Control-Allow-Origin: *',
  'Retry-After: 1',
  'Content-Encoding: gzip',
  'Content-Disposition: attachment; filename="\xe5.txt"',
  'X-Long: '.padEnd(12_000, 'y'),
  'ETag: "x"',
];
const ODD_LINES = [
  'no colon',
  ': no name',
  ' folded',
  'X: a\0b',
  'X: a\rb',
  'X\xff: y',
  'X Y: z',
  'X-Huge: '.padEnd(40_000, 'z'),
  'Content-Length: 3',
  'Content-Length: -1',
  'Content-Length: 5, 5',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
];

export interface ScriptedAnswer {
  /** Sent one after the other, with a moment between. */
  readonly pieces: readonly Buffer[];
  readonly ending: 'stay' | 'end' | 'reset';
  /** What a client has to get, if it gets it whole; undefined where it can't be known. */
  readonly body: Buffer | undefined;
  /** It is in order, and comes to its end: the client has to get it. */
  readonly whole: boolean;
}

function chunked(body: string, chance: Chance, bold: number): string {
  let text = '';
  for (let at = 0; at < body.length; ) {
    const size = 1 + chance.below(Math.max(1, body.length - at));
    const length = chance.mostly(size.toString(16), bold / 20, ['zz', '-1', 'ffffffffff', ' 3', '']);
    text += `${length}${chance.mostly('', bold / 10, [';x=y', ';'])}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return (
    text + chance.mostly('0\r\n\r\n', bold / 5, ['0\r\nX-Sum: 1\r\n\r\n', '0\r\n', '', '0\r\nA', '0\n\n'])
  );
}

function head(chance: Chance, bold: number, framing: readonly string[]): string {
  const status = chance.mostly(chance.pick(STATUSES), bold / 8, ODD_STATUSES);
  const version = chance.mostly('HTTP/1.1', bold / 10, VERSIONS);
  const start = `${version} ${status}${chance.odds(bold / 20) ? '' : ' '}${chance.pick(REASONS)}`;
  const lines = [
    ...framing,
    ...chance.some(LINES, 5),
    ...(chance.odds(bold / 4) ? [chance.pick(ODD_LINES)] : []),
  ];
  const ending = chance.mostly('\r\n', bold / 20, ['\n', '\r']);
  return [start, ...chance.shuffle(lines), ''].map((line) => line + ending).join('');
}

/** @param method of the request that it answers */
export function answerOf(chance: Chance, method: string): ScriptedAnswer {
  const bold = chance.pick([0, 0.2, 1]);
  const body = 'HTTP/1.1 200 OK\r\n\r\nan answer '
    .repeat(chance.mostly(1, 0.1, [0, 30, 3000]))
    .slice(chance.below(9));
  const way = chance.below(4);
  const framing = [
    [`Content-Length: ${body.length}`],
    ['Transfer-Encoding: chunked'],
    [],
    ['Content-Length: 9'],
  ][way]!;
  const sent = way === 1 ? chunked(body, chance, bold) : body;
  const interim = chance.odds(0.1)
    ? chance.pick(['HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'])
    : '';
  const text = `${interim}${head(chance, bold, framing)}${method === 'HEAD' ? '' : sent}`;
  let bytes: Buffer = Buffer.from(text, 'latin1');
  const plain = bold === 0 && way < 2 && method !== 'HEAD';
  if (bold === 1 && chance.odds(0.6)) bytes = mutate(bytes, chance, 4);
  const cut = chance.odds(0.15);
  if (cut) bytes = bytes.subarray(0, chance.below(bytes.length));
  const ending =
    cut || way === 2
      ? chance.pick(['end', 'reset', 'end'] as const)
      : chance.mostly('stay' as const, 0.1, ['end', 'reset'] as const);
  return {
    pieces: split(bytes, chance),
    ending,
    body: plain ? Buffer.from(body, 'latin1') : undefined,
    whole:
      plain &&
      ending === 'stay' &&
      !BODYLESS.test(text) &&
      !text.startsWith('HTTP/1.1 100') &&
      text.split('X-Long').length < 3,
  };
}

const JSON_VALUES = [
  '""',
  'null',
  '1',
  '-1',
  '1e99',
  'true',
  '[]',
  '{}',
  '"x"',
  '"2026-01-02T03:04:05.678901"',
  '"2026-13-99T99:99:99Z"',
  '"never"',
  '900',
  '"900"',
  '0',
  '"a\\r\\nb"',
  '"\\u0000"',
  '"\\ud800"',
  '"é"',
  '" "',
];
const NAMES = [
  'accessToken',
  'access_token',
  'expiresAt',
  'expires_at',
  'expires_in',
  'expiresIn',
  'token_type',
  'error',
  '__proto__',
  'constructor',
  'x',
];

/** What a session endpoint says: mostly nearly a login. */
export function loginAnswerOf(chance: Chance, token: string): ScriptedAnswer {
  const fields = chance.shuffle([
    `"${chance.mostly('accessToken', 0.3, NAMES)}":${chance.mostly(JSON.stringify(token), 0.2, JSON_VALUES)}`,
    ...Array.from({ length: chance.below(4) }, () => `"${chance.pick(NAMES)}":${chance.pick(JSON_VALUES)}`),
  ]);
  const padding = chance.mostly('', 0.05, [' '.repeat(70_000), ' '.repeat(60_000), '\ufeff']);
  const json = chance.mostly(`{${fields.join(',')}}`, 0.15, [
    `[{${fields.join(',')}}]`,
    `{${fields.join(',')}`,
    '<html>no</html>',
    '',
    'null',
    JSON.stringify(token),
    '['.repeat(20_000),
    `{"a":${'{"a":'.repeat(2_000)}`,
  ]);
  let body: Buffer = Buffer.from(padding + json);
  if (chance.odds(0.3)) body = mutate(body, chance);
  const status = chance.mostly('200', 0.3, [...STATUSES, ...ODD_STATUSES]);
  const framing = chance.mostly(`Content-Length: ${body.length}`, 0.15, [
    'Transfer-Encoding: chunked',
    'X: no framing',
    'Content-Length: 99999999',
    'Transfer-Encoding: gzip',
    'Content-Length: 0',
  ]);
  const lines = [
    `HTTP/1.1 ${status} Fine`,
    framing,
    ...chance.some(
      [
        ...LINES,
        'Retry-After: 1e9',
        'Retry-After: Thu, 01 Jan 1970 00:00:00 GMT',
        'Date: never',
        `Location: https://evil.example/?t=${token}`,
      ],
      3,
    ),
  ];
  if (chance.odds(0.1)) lines.push(chance.pick(ODD_LINES));
  let bytes: Buffer = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
  if (chance.odds(0.1)) bytes = mutate(bytes, chance);
  const cut = chance.odds(0.1);
  if (cut) bytes = bytes.subarray(0, chance.below(bytes.length));
  return {
    pieces: split(bytes, chance),
    ending: cut
      ? chance.pick(['end', 'reset'] as const)
      : chance.mostly('stay' as const, 0.2, ['end', 'reset'] as const),
    body: undefined,
    whole: false,
  };
}
