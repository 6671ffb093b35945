import t from 'tap';
import { RequestBounds } from '../../src/listen/request-bounds.ts';
import { fc } from '../support/properties.ts';
import { growthOf } from '../support/proportion.ts';

// Where the requests of a connection begin and end, wherever the bytes are cut.

interface Found {
  /** The bytes of each request that the parser gets. */
  readonly requests: string[];
  /** The bytes of an incomplete request at the end, or `malformed`. */
  readonly rest: string;
}

/** Reads the pieces as a connection does; `lengths` says what follows each head. */
function read(pieces: readonly string[], lengths: readonly number[]): Found {
  const bounds = new RequestBounds();
  const requests: string[] = [];
  let current = '';
  let heads = 0;
  let held = Buffer.alloc(0);
  const over = () => {
    requests.push(current);
    current = '';
  };
  for (const piece of pieces) {
    const bytes = Buffer.concat([held, Buffer.from(piece, 'latin1')]);
    held = Buffer.alloc(0);
    for (let from = 0; from < bytes.length; from = bounds.next) {
      const step = bounds.read(bytes, from);
      if (step === 'malformed') return { requests, rest: 'malformed' };
      current += bytes.toString('latin1', bounds.start, bounds.end);
      if (step === 'head') {
        bounds.bodyFollows(lengths[heads++]!);
        if (bounds.between) over();
      } else if (step === 'end') {
        over();
      }
      if (bounds.next === from) {
        held = bytes.subarray(from);
        break;
      }
    }
  }
  return { requests, rest: current };
}

interface Message {
  /** As it is sent, and as the parser gets it. */
  readonly sent: string;
  readonly seen: string;
  readonly length: number;
}

const HEAD = (method: string, line: string) => `${method} /x HTTP/1.1\r\nhost: localhost\r\n${line}`;
const byte = fc.constantFrom(
  '\r',
  '\n',
  '\t',
  ' ',
  '0',
  'a',
  ';',
  '=',
  '"',
  'GET / HTTP/1.1\r\n\r\n',
  '\rGET',
);
const body = fc.array(byte, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
const empty = fc.constantFrom('', '', '\r\n', '\n', '\n\r\n');

const bodyless = empty.map((before): Message => {
  const seen = HEAD('GET', '\r\n');
  return { sent: before + seen, seen, length: 0 };
});
const measured = fc.tuple(empty, body).map(([before, text]): Message => {
  const seen = `${HEAD('POST', `content-length: ${text.length}\r\n\r\n`)}${text}`;
  return { sent: before + seen, seen, length: text.length };
});
/** An extension as it is sent, and without its optional white space. */
const extension = fc.constantFrom(
  ['', ''],
  [';a=b', ';a=b'],
  [' ; a=b', ';a=b'],
  ['\t;\ta = "x ; \\" = y"; c', ';a="x ; \\" = y";c'],
);
const chunks = fc.tuple(
  empty,
  fc.array(fc.tuple(body, extension), { maxLength: 4 }),
  extension,
  fc.boolean(),
);
const chunked = chunks.map(([before, parts, last, trailer]): Message => {
  const coded = (n: 0 | 1) =>
    parts.map(([text, line]) => `${text.length.toString(16)}${line[n]}\r\n${text}\r\n`).join('') +
    `0${last[n]}\r\n${trailer ? 'x-a: b\r\n\r\n' : '\r\n'}`;
  const head = (line: string) => HEAD('POST', `transfer-encoding: ${line}\r\n\r\n`);
  return {
    sent: before + head('chunked\t') + coded(0),
    seen: head('chunked') + coded(1),
    length: -1,
  };
});
const stream = fc.array(fc.oneof(bodyless, measured, chunked), { minLength: 1, maxLength: 6 });

function cut(text: string, at: readonly number[]): string[] {
  const ends = [...new Set(at.map((n) => n % text.length))].sort((a, b) => a - b);
  return [...ends, text.length]
    .map((end, n) => text.slice(ends[n - 1] ?? 0, end))
    .filter((piece) => piece !== '');
}

t.test('every request is found, wherever the bytes are cut', async (t) => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat()), (messages, at) => {
      const bytes = messages.map(({ sent }) => sent).join('');
      const lengths = messages.map(({ length }) => length);
      const found = read(cut(bytes, at), lengths);
      return (
        found.rest === '' &&
        JSON.stringify(found.requests) === JSON.stringify(messages.map(({ seen }) => seen))
      );
    }),
    { numRuns: 1_000 },
  );
  t.pass();
});

t.test('every request is found if each byte comes by itself', async (t) => {
  fc.assert(
    fc.property(stream, (messages) => {
      const bytes = messages.map(({ sent }) => sent).join('');
      const { requests } = read(
        [...bytes],
        messages.map(({ length }) => length),
      );
      return JSON.stringify(requests) === JSON.stringify(messages.map(({ seen }) => seen));
    }),
    { numRuns: 100 },
  );
  t.pass();
});

t.test('a bare CR between requests is malformed, wherever the bytes are cut', async (t) => {
  const bare = fc.constantFrom('\r', '\n\r', '\r\n\r', '\r\r\n', '\r\n\r\r\n\r\n');
  fc.assert(
    fc.property(
      fc.array(fc.oneof(bodyless, measured, chunked), { maxLength: 3 }),
      bare,
      fc.array(fc.nat()),
      (before, cr, at) => {
        const bytes = `${before.map(({ sent }) => sent).join('')}${cr}${HEAD('GET', '\r\n')}`;
        const found = read(cut(bytes, at), [...before.map(({ length }) => length), 0]);
        return found.rest === 'malformed' && found.requests.length === before.length;
      },
    ),
    { numRuns: 500 },
  );
  t.pass();
});

t.test('a request line of another protocol is malformed', async (t) => {
  for (const line of [
    'GET /x RTSP/1.0',
    'SOURCE /x ICE/1.0',
    'GET /x',
    'GET  /x  RTSP/1.0',
    'GET /x HTTP/1.1\n',
  ])
    for (let at = 1; at < line.length; at++) {
      const bytes = `${line}\r\nhost: x\r\n\r\n`;
      t.equal(read([bytes.slice(0, at), bytes.slice(at)], [0]).rest, 'malformed', JSON.stringify(line));
    }
});

t.test('the time to read a piece is proportional to its length, whatever it holds', async (t) => {
  for (const filling of ['\t', ' \t', '\r', '\n', 'a:\t\r\n', 'a\t', ';', ' ', '\t=']) {
    const reading = (bytes: number) => () => {
      const piece = filling.repeat(bytes / filling.length);
      for (const [head, length] of [
        [HEAD('GET', 'x: '), 0],
        [HEAD('POST', '\r\n3;a="'), -1],
        [HEAD('POST', '\r\n3;a'), -1],
        [HEAD('POST', '\r\n0\r\n'), -1],
      ] as const)
        read([head + piece], [length]);
    };
    const { isProportional, words } = growthOf(reading, 2_048);
    t.ok(isProportional, `${JSON.stringify(filling)}: ${words}`);
  }
});
