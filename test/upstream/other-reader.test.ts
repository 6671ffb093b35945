import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { Client } from 'undici';
import { Chance, mutate } from '../fuzz/chance.ts';
import { type Asked, outcome } from './read-outcome.ts';
import { TABLE } from './response-table.ts';

// undici's HTTP/1.1 client gets the same responses. If its result differs from that of our reader, the reason must be one
// of these, each with the client that accepts the response. docs/reading-answers.md explains them.
const DIFFERENCES: readonly (readonly [taker: 'we' | 'they' | 'either', pattern: RegExp, why: string])[] = [
  ['we', /^HTTP\/1\.[2-9] /m, 'a higher minor version is read as HTTP/1.1 (RFC 9110 §2.5)'],
  ['we', /^Content-Length:[ \t]*\d+[ \t]+\r/im, 'white space behind a value is not part of it (RFC 9112 §5)'],
  [
    'we',
    /^(?:HTTP|\r\n).* 1\d\d\b/,
    'interim responses are dropped, whether expected or not, and whatever they hold (RFC 9110 §15.2)',
  ],
  [
    'we',
    /^[\da-f]+[ \t]*;[^\r]*\r/im,
    'a chunk extension is dropped, whatever it holds, and white space may precede it',
  ],
  ['we', /^0+\r\n[^\r]/m, 'trailers are dropped, whatever they hold'],
  ['they', /^(?:HTTP\/[02]|RTSP|ICE)/m, 'another protocol is not a response'],
  [
    'they',
    /(?:^|\r\n\r\n)(?:\r\n)*(?:\n|\r[^\n]|(?:\r\n){5})/,
    'a bare CR or LF, or five empty lines, before the status line',
  ],
  ['they', /^HTTP\/1\.\d \d{3}[^\r\n]*\r[^\n]/m, 'a bare CR ends the status line'],
  ['they', /^HTTP\/1\.\d \d{3} [^\r\n]*\0/m, 'NUL in a reason phrase'],
  [
    'they',
    /^Transfer-Encoding:(?![ \t]*(?:chunked|identity)[ \t]*\r\n(?!.*^Transfer-Encoding:))/ims,
    'with a coding other than just "chunked" the length is unknown (RFC 9112 §6.3)',
  ],
  ['they', /^[\da-f]{14,}[;\r]/im, 'more than thirteen digits of a chunk size'],
  ['they', /^Content-Length:[ \t]*\d{16,}/im, 'more than fifteen digits of a length'],
  ['they', /^1;x{16385}\r/m, 'a chunk extension of more than 16 KiB'],
  [
    'they',
    /^HTTP\/1\.1 200 (?:x{100}|OK\r\na: ?[xb])/,
    'line ends count towards the size of the header lines',
  ],
  [
    'either',
    /^Transfer-Encoding:[ \t]*chunked *\t/im,
    'a tab behind a coding is not part of it (RFC 9112 §5)',
  ],
  ['either', /^HTTP\/1\.\d 205/m, 'a 205 has no content (RFC 9110 §15.3.6)'],
];

/** The number of generated responses; set FUZZ_OTHER_READER=100000 for a long run. */
const CHANGED = Number(process.env.FUZZ_OTHER_READER ?? 1_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);

type Case = readonly [raw: string, asked: Asked | undefined];
const ROWS: readonly Case[] = TABLE.flatMap(({ rows }) =>
  rows.flatMap(([raw, , asked]): Case[] => (asked?.upgrade !== undefined ? [] : [[raw, asked]])),
);
const CHANGEABLE = ROWS.filter(([raw, asked]) => raw.length < 2_000 && asked?.limitBytes === undefined);

const REFUSED = 'refused';

function ourOutcome(raw: string, asked: Asked | undefined): string {
  const parts = outcome([Buffer.from(raw, 'latin1')], asked).split(' | ');
  if (!parts.at(-1)!.startsWith('whole')) return REFUSED;
  return `${parts[0]!.slice(0, 3)} ${parts.slice(2, -1).join(' | ')}`;
}

/** How undici's client reads the server's response and the end of the connection behind it. */
async function theirOutcome(
  port: number,
  { method = 'GET', limitBytes = 1024 }: Asked = {},
): Promise<string> {
  const limits = { headersTimeout: 5_000, bodyTimeout: 5_000, maxHeaderSize: limitBytes };
  const client = new Client(`http://127.0.0.1:${port}`, limits);
  try {
    const { statusCode, body } = await client.request({ path: '/', method: method as 'GET' });
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece as Buffer);
    return `${statusCode} ${Buffer.concat(pieces).toString('latin1')}`;
  } catch {
    return REFUSED;
  } finally {
    await client.destroy();
  }
}

t.setTimeout(30_000 + CHANGED * 10);

t.test('every response that undici reads differently differs for a known reason', async (t) => {
  let raw = '';
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.from(raw, 'latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;

  /** Why the two results differ; undefined if they are the same. */
  async function whyOtherwise([answer, asked]: Case): Promise<string | undefined> {
    raw = answer;
    const ours = ourOutcome(raw, asked);
    const theirs = await theirOutcome(port, asked);
    if (ours === theirs) return undefined;
    const taker = ours === REFUSED ? 'they' : theirs === REFUSED ? 'we' : 'either';
    const why = DIFFERENCES.find(
      ([accepting, pattern]) => (accepting === taker || accepting === 'either') && pattern.test(raw),
    )?.[2];
    if (why === undefined) t.fail(`${JSON.stringify(raw.slice(0, 150))}: ${ours}, undici: ${theirs}`);
    return why;
  }

  const reasons = new Set<string>();
  for (const row of ROWS) reasons.add((await whyOtherwise(row)) ?? '');
  reasons.delete('');
  t.same([...reasons].sort(), DIFFERENCES.map(([, , why]) => why).sort(), 'each reason still occurs');

  for (let n = 0; n < CHANGED; n++) {
    const chance = new Chance(SEED + n);
    const [good, asked] = chance.pick(CHANGEABLE);
    await whyOtherwise([mutate(Buffer.from(good, 'latin1'), chance, 1).toString('latin1'), asked]);
  }
});
