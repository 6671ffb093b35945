import t from 'tap';
import { fc } from '../support/properties.ts';
import { outcome } from './read-outcome.ts';
import { asRefused, referenceOutcome } from './reference-reader.ts';

/** The number of generated cases; set FUZZ_READER=1000000 for a long run. */
const RUNS = Number(process.env.FUZZ_READER ?? 3_000);

const bytesOf = (raw: string) => Buffer.from(raw, 'latin1');

const TOKEN = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
const VALUE = fc.stringMatching(/^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff\t]{0,20}[\x21-\x7e\x80-\xff])?$/);
/** Header lines without a meaning for framing. */
const LINE = fc.tuple(
  TOKEN.filter((name) => !/^(content-length|transfer-encoding|connection|keep-alive|upgrade)$/i.test(name)),
  VALUE,
);
const BODY = fc.array(fc.uint8Array({ maxLength: 40, minLength: 1 }), { maxLength: 8 });

/** A valid response, and the expected result. */
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

t.test('a valid response is read unchanged, however it is split', async () => {
  fc.assert(
    fc.property(ANSWER, fc.array(fc.nat(), { maxLength: 12 }), ({ bytes, seen }, at) => {
      return outcome(split(bytes, at)) === seen;
    }),
    { numRuns: RUNS / 2 },
  );
});

t.test(
  'any bytes are read as the grammar says or are a fault, and the split makes no difference',
  async () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      // A valid response with bytes inserted, removed or changed.
      fc
        .tuple(ANSWER, fc.nat(), fc.nat({ max: 3 }), fc.uint8Array({ maxLength: 3 }))
        .map(([{ bytes }, at, gone, put]) => {
          const place = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, place), put, bytes.subarray(place + gone)]);
        }),
    );
    fc.assert(
      fc.property(noise, fc.array(fc.nat(), { maxLength: 8 }), (bytes, at) => {
        const whole = outcome([bytes]); // Throws anything but a ResponseFault.
        const expected = referenceOutcome(bytes.toString('latin1'));
        return outcome(split(bytes, at)) === whole && asRefused(whole) === expected;
      }),
      { numRuns: RUNS },
    );
  },
);
