import fc from 'fast-check';
import t from 'tap';
import { ResponseFault } from '../../src/upstream/head-scanner.ts';
import { ResponseReader } from '../../src/upstream/response-reader.ts';
import { cuts, outcome } from './read-outcome.ts';
import { TABLE } from './response-table.ts';

/** By hand many more: FUZZ_READER=1000000 */
const RUNS = Number(process.env.FUZZ_READER ?? 3_000);

const bytesOf = (raw: string) => Buffer.from(raw, 'latin1');

t.test('the table is a long one', async (t) => {
  t.ok(TABLE.flatMap(({ rows }) => rows).length >= 300);
});

for (const { rule, rows } of TABLE) {
  t.test(rule, async (t) => {
    for (const [raw, expected, asked] of rows) {
      const bytes = bytesOf(raw);
      t.equal(outcome([bytes], asked), expected, JSON.stringify(raw.slice(0, 200)));
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

const TOKEN = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
const VALUE = fc.stringMatching(/^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff\t]{0,20}[\x21-\x7e\x80-\xff])?$/);
/** Names that frame nothing. */
const LINE = fc.tuple(
  TOKEN.filter((name) => !/^(content-length|transfer-encoding|connection|keep-alive|upgrade)$/i.test(name)),
  VALUE,
);
const BODY = fc.array(fc.uint8Array({ maxLength: 40, minLength: 1 }), { maxLength: 8 });

/** A good answer, and what is to be made of it. */
const ANSWER = fc
  .record({
    lines: fc.array(LINE, { maxLength: 6 }),
    parts: BODY,
    chunked: fc.boolean(),
    interim: fc.boolean(),
  })
  .map(({ lines, parts, chunked, interim }) => {
    const body = Buffer.concat(parts).toString('latin1');
    const framing = chunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(body.length)];
    const all = [...lines, framing];
    const sent = chunked
      ? `${parts.map((part) => `${part.length.toString(16)}\r\n${Buffer.from(part).toString('latin1')}\r\n`).join('')}0\r\n\r\n`
      : body;
    const head = `HTTP/1.1 200 OK\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
    const seen = `200 OK | ${all.map(([name, value]) => `${name}: ${value}`).join(', ')} | ${body} | whole, keeps`;
    return { bytes: bytesOf(`${interim ? 'HTTP/1.1 103 x\r\n\r\n' : ''}${head}${sent}`), seen };
  });

function split(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places
    .slice(1)
    .map((to, i) => bytes.subarray(places[i], to))
    .filter(({ length }) => length > 0);
}

t.test('a good answer is read as it is, however it is split', async () => {
  fc.assert(
    fc.property(ANSWER, fc.array(fc.nat(), { maxLength: 12 }), ({ bytes, seen }, at) => {
      return outcome(split(bytes, at)) === seen;
    }),
    { numRuns: RUNS / 2 },
  );
});

t.test(
  'whatever comes: a fault is a fault, the split makes no difference, and no byte is made up',
  async () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      // A good answer with something put in, left out or changed.
      fc
        .tuple(ANSWER, fc.nat(), fc.nat({ max: 3 }), fc.uint8Array({ maxLength: 3 }))
        .map(([{ bytes }, at, gone, put]) => {
          const place = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, place), put, bytes.subarray(place + gone)]);
        }),
    );
    fc.assert(
      fc.property(noise, fc.array(fc.nat(), { maxLength: 8 }), (bytes, at) => {
        const whole = outcome([bytes]); // Throws what is no fault.
        return outcome(split(bytes, at)) === whole && whole.length < 10 * bytes.length + 100;
      }),
      { numRuns: RUNS },
    );
  },
);

t.test('after stop() nothing is told, in the middle of a piece too', async (t) => {
  for (const framing of ['Content-Length: 4', 'Transfer-Encoding: chunked', 'a: b']) {
    const told: string[] = [];
    const reader: ResponseReader = new ResponseReader(
      {
        head: () => {
          told.push('head');
          reader.stop();
        },
        body: () => told.push('body'),
        finished: () => told.push('finished'),
        switched: () => told.push('switched'),
      },
      1024,
    );
    reader.expect('GET', false);
    reader.read(bytesOf(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n4\r\nabcd\r\n0\r\n\r\n`));
    t.same(told, ['head'], framing);
  }
});

t.test('after stop() nothing is a fault', async (t) => {
  const reader: ResponseReader = new ResponseReader(
    { head: () => {}, body: () => reader.stop(), finished: () => {}, switched: () => {} },
    1024,
  );
  for (const body of ['1\r\naZ', `1\r\na\r\n1388\r\n${'b'.repeat(5_000)}Z`, '1\r\na\r\n0\r\nX: \0']) {
    reader.expect('GET', false);
    const bytes = bytesOf(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
    t.doesNotThrow(() => reader.read(bytes), JSON.stringify(body.slice(0, 20)));
    t.ok(reader.finish(), 'and no break');
  }
});

t.test('small chunks of one read are told as one piece', async (t) => {
  const pieces: number[] = [];
  const reader = new ResponseReader(
    { head: () => {}, body: ({ length }) => pieces.push(length), finished: () => {}, switched: () => {} },
    1024,
  );
  reader.expect('GET', false);
  reader.read(bytesOf(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(5_000)}`));
  t.same(pieces, [5_000]);
});

t.test('how long the peer keeps an idle connection is taken from Keep-Alive', async (t) => {
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
    const nothing = () => {};
    const reader = new ResponseReader(
      { head: nothing, body: nothing, finished: nothing, switched: nothing },
      1024,
    );
    reader.expect('GET', false);
    reader.read(bytesOf(`HTTP/1.1 200 OK\r\nKeep-Alive: ${value}\r\nContent-Length: 0\r\n\r\n`));
    t.equal(reader.idleSeconds, seconds, value);
  }
});

t.test('a fault says what it is by a constant, and how to tell it to others', async (t) => {
  const nothing = () => {};
  const reader = new ResponseReader(
    { head: nothing, body: nothing, finished: nothing, switched: nothing },
    16,
  );
  reader.expect('GET', false);
  try {
    reader.read(bytesOf(`HTTP/1.1 200 OK\r\na: ${'secret'.repeat(9)}\r\n\r\n`));
    t.fail('it is too large');
  } catch (error) {
    t.ok(error instanceof ResponseFault);
    t.equal((error as ResponseFault).failure, 'head-too-large');
    t.notMatch((error as ResponseFault).message, /secret/);
  }
});
