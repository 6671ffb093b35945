import t from 'tap';
import { Scrubber } from '../../../src/forward/scrub/scrubber.ts';
import { Searcher } from '../../../src/forward/scrub/searcher.ts';
import { Chance } from '../../fuzz/chance.ts';
import { BETWEEN, cuts, textOf } from '../../fuzz/echo-grammar.ts';
import { share } from '../../support/share.ts';
import { ENCODINGS } from './encodings.ts';

// The values change in the middle of an answer: a login brings a token, a reload brings keys.

const COUNT = Number(process.env.ECHOES ?? share(30_000));
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const RELEASED_MS = 250;
const TOKENS = ['q/aZ9+x="&<>%41-_.\'q0', 'short/1', `eyJ${'hbGciOi.-_'.repeat(20)}`];
const textIn = (parts: readonly Buffer[]) => Buffer.concat(parts).toString('latin1');
const bytesOf = (text: string) => Buffer.from(text, 'latin1');
/** Values come and go: some begin like the token, a long one has other bytes. */
const changesOf = (token: string) =>
  [0, 1, 2, 3].map(
    (n) =>
      new Searcher([
        `another ${n}`,
        token,
        ...(n % 2 === 0 ? [`${token.slice(0, 5)}^`, `(${n})`.repeat(9)] : []),
      ]),
  );

t.test(
  'a match goes on over a change of the values, whether or not its beginning was passed on',
  async (t) => {
    for (const token of TOKENS.slice(0, 2)) {
      const [before, after] = changesOf(token);
      for (const encode of Object.values(ENCODINGS)) {
        const text = `x: ${encode(token)} |`;
        for (const isReleased of [true, false]) {
          for (let at = 1; at < text.length; at++) {
            const [same, changing] = [new Scrubber(before!), new Scrubber(before!)];
            const out = [same, changing].map((scrubber, i) => {
              const first = textIn(scrubber.push(bytesOf(text.slice(0, at)), 0));
              const released = isReleased ? textIn(scrubber.release(RELEASED_MS)) : '';
              if (i === 1) scrubber.use(after!);
              const second = textIn(scrubber.push(bytesOf(text.slice(at)), RELEASED_MS));
              return [first, released, second, textIn(scrubber.end())];
            });
            if (out[0]!.join('|') !== out[1]!.join('|')) {
              t.same(out[1], out[0], `cut at ${at}: ${text}`);
              return;
            }
          }
        }
      }
      t.pass(token);
    }
  },
);

t.test('changes anywhere in an answer neither cut it elsewhere, nor lose or double a byte', async (t) => {
  for (const token of TOKENS) {
    const searchers = changesOf(token);
    for (let seed = SEED; seed < SEED + COUNT / 6; seed++) {
      const chance = new Chance(seed);
      const { sent } = textOf(chance, token, BETWEEN, 6);
      const [same, changing] = [new Scrubber(searchers[0]!), new Scrubber(searchers[0]!)];
      let ms = 0;
      for (const piece of cuts(chance, sent)) {
        if (chance.odds(0.5)) changing.use(chance.pick(searchers));
        const [expected, got] = [same, changing].map((scrubber) => textIn(scrubber.push(bytesOf(piece), ms)));
        const isReleased = chance.odds(0.3);
        if (isReleased) ms += RELEASED_MS;
        const [then, late] = [same, changing].map((scrubber) => isReleased && textIn(scrubber.release(ms)));
        if (got !== expected || late !== then || same.dueMonoMs !== changing.dueMonoMs) {
          t.same([got, late], [expected, then], `seed ${seed}: ${sent}`);
          return;
        }
      }
      if (textIn(changing.end()) !== textIn(same.end())) t.fail(`seed ${seed}: the end of ${sent}`);
    }
    t.pass(token);
  }
});

t.test(
  'a token that comes byte by byte is masked, with a renewal and a release before each byte',
  async (t) => {
    const token = 'q/aZ9+x=&>%41-_.q0';
    const searchers = changesOf(token);
    for (const [name, encode] of Object.entries(ENCODINGS)) {
      const scrubber = new Scrubber(new Searcher([token]));
      const text = encode(token);
      const whole = new Scrubber(new Searcher([token]));
      const masked = textIn([...whole.push(bytesOf(text), 0), ...whole.end()]);
      let out = '';
      for (let at = 0; at < text.length; at++) {
        scrubber.use(searchers[at % 4]!);
        out += textIn(scrubber.push(bytesOf(text[at]!), at * RELEASED_MS));
        out += textIn(scrubber.release((at + 1) * RELEASED_MS));
      }
      out += textIn(scrubber.end());
      // The byte that ends the match is masked, whatever went before it.
      t.equal(out.length, text.length, name);
      t.equal(out.at(masked.lastIndexOf('*')), '*', name);
    }
  },
);

t.test(
  'a value that is added is found if it begins in held bytes, even behind several changes',
  async (t) => {
    for (const [name, encode] of Object.entries(ENCODINGS)) {
      if (/lines|blanks/.test(name)) continue; // A cut at white space holds nothing.
      const text = encode('second/secret+2');
      const whole = new Scrubber(new Searcher(['second/secret+2']));
      const masked = textIn([...whole.push(bytesOf(`${text} `), 0), ...whole.end()]);
      for (let at = 1; at < text.length - 1; at++) {
        const scrubber = new Scrubber(new Searcher(['first-secret-1']));
        let out = textIn(scrubber.push(bytesOf(text.slice(0, at)), 0));
        scrubber.use(new Searcher(['first-secret-1', 'second/secret+2']));
        out += textIn(scrubber.push(bytesOf(text[at]!), 0));
        scrubber.use(new Searcher(['first-secret-1', 'second/secret+2', 'third-secret-3']));
        out += textIn([...scrubber.push(bytesOf(`${text.slice(at + 1)} `), 0), ...scrubber.end()]);
        t.equal(out, masked, `${name}, cut at ${at}`);
      }
    }
  },
);

t.test('a value that is added is found where a shorter one, its beginning, was masked', async (t) => {
  const scrubber = new Scrubber(new Searcher(['key-12345']));
  scrubber.push(bytesOf('key-12345'), 0);
  scrubber.use(new Searcher(['key-12345', 'key-12345-and-more']));
  t.equal(textIn(scrubber.push(bytesOf('-and-more '), 0)), `${'*'.repeat(18)} `);
});

t.test(
  'a value that is no longer searched for passes, and so does the rest of one that had begun',
  async (t) => {
    const scrubber = new Scrubber(new Searcher(['old-secret-1', 'new-secret-2']));
    scrubber.push(bytesOf('old-sec'), 0);
    scrubber.use(new Searcher(['new-secret-2']));
    t.equal(textIn(scrubber.push(bytesOf('ret-1 new-secret-2 '), 0)), `old-secret-1 ${'*'.repeat(12)} `);
  },
);
