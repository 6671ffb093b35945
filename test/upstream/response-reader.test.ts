import t from 'tap';
import { ResponseFault } from '../../src/upstream/head-scanner.ts';
import { type ResponseEvents, ResponseReader } from '../../src/upstream/response-reader.ts';
import { cuts, outcome, Reading } from './read-outcome.ts';
import { asRefused, referenceOutcome } from './reference-reader.ts';
import { TABLE } from './response-table.ts';

const nothing = () => {};
const SILENT: ResponseEvents = { head: nothing, body: nothing, finished: nothing, switched: nothing };
const bytesOf = (raw: string) => Buffer.from(raw, 'latin1');

t.test('the table has at least 300 rows', async (t) => {
  t.ok(TABLE.flatMap(({ rows }) => rows).length >= 300);
});

for (const { rule, rows } of TABLE) {
  t.test(rule, async (t) => {
    for (const [raw, expected, asked] of rows) {
      const bytes = bytesOf(raw);
      t.equal(outcome([bytes], asked), expected, JSON.stringify(raw.slice(0, 200)));
      t.equal(referenceOutcome(raw, asked), asRefused(expected), 'the reference reader agrees');
      if (bytes.length > 2_000) continue;
      const other = [...cuts(bytes)].find((pieces) => outcome(pieces, asked) !== expected);
      t.equal(
        other && outcome(other, asked),
        undefined,
        `the same, however it is cut: ${other?.[0]?.length}`,
      );
    }
  });
}

t.test('after stop() there are no events, not even for the rest of a piece', async (t) => {
  const chunks = 'Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n';
  for (const rest of [
    'Content-Length: 4\r\n\r\nabcd',
    'Content-Length: 0\r\n\r\n',
    chunks,
    'a: b\r\n\r\nabcd',
  ]) {
    for (const at of ['head', 'body']) {
      const events: string[] = [];
      const tell = (what: string) => () => {
        events.push(what);
        if (what === at) reader.stop();
      };
      const reader: ResponseReader = new ResponseReader(
        { head: tell('head'), body: tell('body'), finished: tell('finished'), switched: tell('switched') },
        1024,
      );
      reader.expect('GET');
      reader.read(bytesOf(`HTTP/1.1 200 OK\r\n${rest}`));
      t.ok(reader.finish(), 'the end of the connection is not an error');
      if (events.includes(at)) t.equal(events.at(-1), at, JSON.stringify(rest));
    }
  }
});

t.test('what came before a response on its connection does not change how it is read', async (t) => {
  for (const [before] of TABLE.flatMap(({ rows }) => rows)) {
    const reading = new Reading();
    reading.outcome([bytesOf(before)]);
    const next = '\r\n\r\n\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n';
    const seen = '200 OK | Transfer-Encoding: chunked | a | whole, keeps';
    t.equal(reading.outcome([bytesOf(next)]), seen, JSON.stringify(before.slice(0, 200)));
  }
  const interim = 'HTTP/1.1 103 x\r\n\r\n'.repeat(600);
  const reading = new Reading();
  for (let n = 0; n < 2; n++) {
    t.match(reading.outcome([bytesOf(`${interim}HTTP/1.1 204 X\r\n\r\n`)]), /whole/);
  }
});

t.test('a response has begun with its first byte, even that of an interim response', async (t) => {
  const reader = new ResponseReader(SILENT, 1024);
  reader.expect('GET');
  t.notOk(reader.begun);
  reader.read(bytesOf('H'));
  t.ok(reader.begun);
  t.notOk(reader.finish());
  reader.expect('GET');
  t.notOk(reader.begun);
  reader.read(bytesOf('HTTP/1.1 103 x\r\n\r\n'));
  t.ok(reader.begun);
});

t.test('after stop() no bytes are a fault', async (t) => {
  const reader: ResponseReader = new ResponseReader({ ...SILENT, body: () => reader.stop() }, 1024);
  for (const body of ['1\r\naZ', `1\r\na\r\n1388\r\n${'b'.repeat(5_000)}Z`, '1\r\na\r\n0\r\nX: \0']) {
    reader.expect('GET');
    const bytes = bytesOf(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
    t.doesNotThrow(() => reader.read(bytes), JSON.stringify(body.slice(0, 20)));
    t.ok(reader.finish(), 'nor is the end of the connection');
  }
});

t.test('small chunks of one read become one piece', async (t) => {
  const pieces: number[] = [];
  const reader = new ResponseReader({ ...SILENT, body: ({ length }) => pieces.push(length) }, 1024);
  reader.expect('GET');
  reader.read(bytesOf(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(5_000)}`));
  reader.read(bytesOf(`1\r\nb\r\n2000\r\n${'c'.repeat(8192)}\r\n2000\r\n${'d'.repeat(8192)}\r\n`));
  t.same(pieces, [5_000, 8193, 8192], 'large chunks are not joined');
});

t.test('Keep-Alive says how long the peer keeps an idle connection', async (t) => {
  const reader = new ResponseReader(SILENT, 1024);
  for (const [value, seconds] of [
    ['timeout=5', 5],
    ['timeout=5, max=100', 5],
    ['max=100, timeout = 7', 7],
    ['timeout="9"', 9],
    ['max=100', undefined],
    ['timeout=x', undefined],
    ['notimeout=5', undefined],
    ['timeout=5\r\nKeep-Alive: max=100', 5],
    ['max=100\r\nKeep-Alive: timeout=5', 5],
    ['timeout=2\r\nKeep-Alive: timeout=5', 2],
    ['timeout=5\r\nKeep-Alive: timeout=2', 2],
  ] as const) {
    reader.expect('GET');
    reader.read(bytesOf(`HTTP/1.1 200 OK\r\nKeep-Alive: ${value}\r\nContent-Length: 0\r\n\r\n`));
    t.equal(reader.idleSeconds, seconds, value);
  }
});

t.test('a fault has a constant message, and names its failure', async (t) => {
  const reader = new ResponseReader(SILENT, 16);
  reader.expect('GET');
  try {
    reader.read(bytesOf(`HTTP/1.1 200 OK\r\na: ${'secret'.repeat(9)}\r\n\r\n`));
    t.fail('the head was accepted, though it is too large');
  } catch (error) {
    t.ok(error instanceof ResponseFault);
    t.equal((error as ResponseFault).failure, 'head-too-large');
    t.notMatch((error as ResponseFault).message, /secret/);
  }
});
