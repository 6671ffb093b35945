import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { Client } from 'undici';
import { TABLE } from './response-table.ts';

// The same answers are given to undici's HTTP/1.1 client. Wherever it and our reader come to different ends, the reason
// stands here; docs/forwarding.md has them in words.
const DIFFERENCES: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/HTTP\/1\.[2-9] /, 'a higher minor version is HTTP/1.1 to whoever knows no more (RFC 9110 §2.5)'],
  [/^(?:HTTP\/[02]|RTSP|ICE)|\r\n\r\n(?:RTSP|HTTP\/2)/, 'another protocol is no answer'],
  [/^[\r\n]/, 'bare line ends before the status line, or five empty lines'],
  [/^HTTP\/1\.1 200 O\x00K/, 'NUL in a reason phrase'],
  [/Content-Length: 2[ \t]+\r/, 'white space behind a value is no part of it (RFC 9112 §5)'],
  [
    /Transfer-Encoding:/,
    'a coding that is not just "chunked" leaves the length to be guessed (RFC 9112 §6.3)',
  ],
  [
    /\r\n1(?:[ \t];x|;|;\xe5)\r\n/,
    'chunk extensions are dropped, whatever is in them, and may have white space before',
  ],
  [/\r\n0\r\nContent-Length: 5/, 'trailers are dropped, whatever is in them'],
  [/\r\n00000000000001\r\n/, 'more than thirteen digits of a chunk size'],
  [/^HTTP\/1\.[01] 100/, '100 is an interim answer, asked for or not (RFC 9110 §15.2)'],
  [/^HTTP\/1\.1 200 (?:x{100}|OK\r\na: ?[xb])/, 'line ends count towards the size of the header lines'],
];

/** What a client of undici's makes of these bytes, and of the connection's end behind them. */
async function undiciOutcome(port: number, method: string, limitBytes: number): Promise<string> {
  const limits = { headersTimeout: 5_000, bodyTimeout: 5_000, maxHeaderSize: limitBytes };
  const client = new Client(`http://127.0.0.1:${port}`, limits);
  try {
    const { statusCode, body } = await client.request({ path: '/', method: method as 'GET' });
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece as Buffer);
    return `${statusCode} ${Buffer.concat(pieces).toString('latin1')}`;
  } catch {
    return 'refused';
  } finally {
    await client.destroy();
  }
}

t.test('where undici reads an answer otherwise, we know why', async (t) => {
  let raw = '';
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.from(raw, 'latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const used = new Set<string>();
  for (const [bytes, expected, asked] of TABLE.flatMap(({ rows }) => rows)) {
    if (asked?.upgrade === true) continue;
    raw = bytes;
    const parts = expected.split(' | ');
    const good = parts.at(-1)!.startsWith('whole');
    const ours = good ? `${parts[0]!.slice(0, 3)} ${parts.slice(2, -1).join(' | ')}` : 'refused';
    const theirs = await undiciOutcome(port, asked?.method ?? 'GET', asked?.limitBytes ?? 1024);
    if (ours === theirs) continue;
    const why = DIFFERENCES.find(([pattern]) => pattern.test(bytes))?.[1];
    t.ok(why, `${JSON.stringify(bytes.slice(0, 150))}: ${ours}, undici: ${theirs}`);
    if (why !== undefined) used.add(why);
  }
  t.same([...used].sort(), DIFFERENCES.map(([, why]) => why).sort(), 'each of these reasons is still one');
});
