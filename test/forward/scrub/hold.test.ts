import { randomBytes } from 'node:crypto';
import t from 'tap';
import { Scrubber } from '../../../src/forward/scrub/scrubber.ts';
import { Searcher } from '../../../src/forward/scrub/searcher.ts';
import { growthOf } from '../../support/proportion.ts';
import { randomFrom } from '../../support/random.ts';
import { share } from '../../support/share.ts';
import { ENCODINGS } from './encodings.ts';

// What is held back, for how long, and how the rest is cut depends only on the shape of a text, and on no secret.

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.q-_7Zk3xVwqPbH2mT0s';
const SEARCHER = new Searcher([TOKEN]);
const RELEASED_MS = 250;
const stars = (text: string) => '*'.repeat(text.length);

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString('latin1');
}

t.test(
  'the run at the end of a piece is held, whatever its characters, and all before it is passed on',
  async (t) => {
    for (const run of [TOKEN.slice(0, 9), 'eyX', 'Wrong', '%41%4', '&#1', 'a\\u00', '=\r', ';', '日本']) {
      const scrubber = new Scrubber(SEARCHER);
      t.equal(textOf(scrubber.push(Buffer.from(`data: ${run}`), 0)), 'data: ', run);
      t.equal(
        textOf(scrubber.push(Buffer.from(' more\n'), 1)),
        Buffer.from(`${run} more\n`).toString('latin1'),
        run,
      );
    }
    for (const end of ['\n', ' ', '\t', '"', "'", '<']) {
      const scrubber = new Scrubber(SEARCHER);
      const piece = `{"a": "${TOKEN.slice(0, 9)}${end}`;
      t.equal(textOf(scrubber.push(Buffer.from(piece), 0)), piece, JSON.stringify(end));
      t.equal(scrubber.dueMonoMs, undefined);
    }
  },
);

t.test(
  'a held run is passed on a quarter of a second after it came, and the rest of a match is masked',
  async (t) => {
    for (let at = 1; at < TOKEN.length; at++) {
      const scrubber = new Scrubber(SEARCHER);
      scrubber.push(Buffer.from(TOKEN.slice(0, at)), 0);
      t.same(scrubber.release(RELEASED_MS - 20), []);
      t.ok(scrubber.dueMonoMs! <= RELEASED_MS);
      t.equal(textOf(scrubber.release(RELEASED_MS)), TOKEN.slice(0, at));
      t.equal(scrubber.dueMonoMs, undefined);
      t.equal(textOf(scrubber.push(Buffer.from(`${TOKEN.slice(at)} `), 300)), `${stars(TOKEN.slice(at))} `);
    }
  },
);

t.test('an escape that a release cuts is read both whole and literally', async (t) => {
  const encoded = ENCODINGS['JSON, all escaped']!(TOKEN);
  for (let at = 1; at < 20; at++) {
    const scrubber = new Scrubber(SEARCHER);
    scrubber.push(Buffer.from(encoded.slice(0, at)), 0);
    t.equal(textOf(scrubber.release(RELEASED_MS)), encoded.slice(0, at));
    const rest = encoded.slice(at);
    t.equal(textOf(scrubber.push(Buffer.from(`${rest} `), 300)), `${stars(rest)} `, `cut at ${at}`);
  }
  const odd = new Scrubber(new Searcher(['secret-that-ends-with-%4']));
  odd.push(Buffer.from('secret-that-ends-with-%4'), 0);
  t.equal(textOf(odd.release(RELEASED_MS)), stars('secret-that-ends-with-%4'));
});

t.test('each byte waits its own quarter of a second, even if more follow', async (t) => {
  const scrubber = new Scrubber(SEARCHER);
  let out = '';
  for (let ms = 0; ms <= 1_000; ms += 100) {
    out += textOf(scrubber.release(ms));
    out += textOf(scrubber.push(Buffer.from('x'), ms));
  }
  t.equal(out, 'x'.repeat(8));
});

t.test('no more of an endless run is held than the longest match could have', async (t) => {
  const scrubber = new Scrubber(SEARCHER);
  const sent = 'x'.repeat(100_000);
  t.equal(textOf(scrubber.push(Buffer.from(sent), 0)).length, sent.length - SEARCHER.maxHeldBytes);
  const lengths = [8, 60, 900, 1_300].map((n) => new Searcher(['k'.repeat(n)]).maxHeldBytes);
  t.same(new Set(lengths), new Set([16 * 1024]), 'the limit tells no length');
});

t.test(
  'a run goes on over line breaks of base64 and quoted-printable, and blanks between hex bytes',
  async (t) => {
    const random = randomFrom(7);
    const line = Buffer.from(Array.from({ length: 57 }, () => Math.floor(random() * 256))).toString('base64');
    for (const [held, before] of [
      [`${line}\n`, ''],
      [`${line}\r\n${line}\r\n`, ''],
      [`${line}\n  ${line.slice(9)}`, ''],
      ['ab =\r\n', 'ab '],
      ['x 6b 65 79 ', 'x '],
      ['(be ', '('],
    ] as const) {
      const scrubber = new Scrubber(SEARCHER);
      t.equal(textOf(scrubber.push(Buffer.from(held), 0)), before, JSON.stringify(held));
    }
    for (const passes of [`${line}\n\n`, 'abcd\n', `data: {"a":1}\n`, 'made ', 'to be or ', '100 ']) {
      t.equal(textOf(new Scrubber(SEARCHER).push(Buffer.from(passes), 0)), passes, JSON.stringify(passes));
    }
  },
);

t.test('a text is cut in the same places whether or not it holds a credential', async (t) => {
  const wrong = TOKEN.split('').reverse().join('');
  for (const encode of Object.values(ENCODINGS)) {
    const cuts = [TOKEN, wrong].map((value) => {
      const text = Buffer.from(`{"before": ${encode(value)} and ${value.slice(0, 30)}`, 'latin1');
      const scrubber = new Scrubber(SEARCHER);
      const sizes: number[] = [];
      for (let at = 0; at < text.length; at += 7) {
        const parts = scrubber.push(text.subarray(at, at + 7), at * 30);
        sizes.push(...parts.map(({ length }) => length), -1);
        sizes.push(...scrubber.release(at * 30).map(({ length }) => length), -2);
      }
      return [...sizes, ...scrubber.end().map(({ length }) => length)];
    });
    // Escaped characters are at different places in the two texts.
    if (encode(TOKEN).length === encode(wrong).length && !/[^\w*.-]/.test(encode(TOKEN)))
      t.same(cuts[0], cuts[1]);
  }
});

t.test('the time to scrub a text is proportional to its length', async (t) => {
  const token = `eyJ${randomBytes(800).toString('base64url')}`;
  const texts: [values: string[], text: string][] = [
    [['a'.repeat(64)], 'a'],
    [[token], token.slice(0, -1)],
    [[token], ENCODINGS['percent, all']!(token.slice(0, -1))],
    [[token], '&#97'],
    [['%25'.repeat(20)], '%25'],
    [[token], '\\'],
    [[token], '='],
    [[token], '61 '],
  ];
  for (const [values, unit] of texts) {
    const searcher = new Searcher(values);
    const scrubbing = (bytes: number) => {
      const text = Buffer.from(unit.repeat(Math.ceil(bytes / unit.length)));
      return () => {
        const scrubber = new Scrubber(searcher);
        for (let at = 0; at < text.length; at += 65_536) scrubber.push(text.subarray(at, at + 65_536), 0);
      };
    };
    const { isProportional, words } = growthOf(scrubbing, share(25_000));
    t.ok(isProportional, `${unit.slice(0, 20)}: ${words}`);
  }
});

t.test(
  'lines of base64 are held from the first one on, even if they are indented and follow a short run',
  async (t) => {
    const long = TOKEN.repeat(3);
    const lines = Buffer.from(`user:${long}!`)
      .toString('base64')
      .match(/.{1,76}/g)!;
    const text = `a=95\n\n ${lines.join('\r\n ')}"`;
    const searcher = new Searcher([long]);
    const whole = new Scrubber(searcher);
    const expected = textOf([...whole.push(Buffer.from(text), 0), ...whole.end()]);
    t.notMatch(expected, lines[1]!);
    for (let at = 1; at < text.length; at++) {
      const scrubber = new Scrubber(searcher);
      const pieces = [text.slice(0, at), text.slice(at)].flatMap((piece) =>
        scrubber.push(Buffer.from(piece), 0),
      );
      t.equal(textOf([...pieces, ...scrubber.end()]), expected, `cut at ${at}`);
    }
  },
);
