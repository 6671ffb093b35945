import { randomBytes } from 'node:crypto';
import { Scrubber } from '../src/forward/scrub/scrubber.ts';
import { Searcher } from '../src/forward/scrub/searcher.ts';

// What a caller learns of a token by the cuts of an answer and by the time of a search, and what scrubbing costs.
// `node bench/scrub-evidence.ts`; prints to standard output.

const PROBES = Number(process.env.PROBES ?? 100_000);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const TOKEN = `eyJhbGciOiJIUzI1NiJ9.${randomBytes(600).toString('base64url')}`;
const SEARCHER = new Searcher([TOKEN]);
const ENCODE: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  percent: (text) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
  base64: (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
};
const pick = () => ALPHABET[Math.floor(Math.random() * ALPHABET.length)]!;

/** Sizes of what goes on at each of these moments, for an echo that is cut behind the guess. */
function cutsOf(guess: string): string {
  const scrubber = new Scrubber(SEARCHER);
  const sizes = (parts: readonly Buffer[]) => parts.map(({ length }) => length).join('+');
  const seen = [sizes(scrubber.push(Buffer.from(`<p>q=${guess}`), 0)), scrubber.dueMonoMs];
  seen.push(sizes(scrubber.release(100)), sizes(scrubber.release(1_000)));
  seen.push(sizes(scrubber.push(Buffer.from('x&rest'), 1_001)), sizes(scrubber.end()));
  return seen.join('|');
}

/** How often the right next character is the only one of 64 that looks otherwise. */
function learnedByCuts(): void {
  for (const [name, encode] of Object.entries(ENCODE)) {
    let [told, tries] = [0, 0];
    for (let n = 0; n < PROBES / 4 / ALPHABET.length; n++) {
      const at = 1 + (n % (TOKEN.length - 2));
      const looks = [...ALPHABET].map((c) => [c, cutsOf(encode(TOKEN.slice(0, at) + c))] as const);
      const right = looks.find(([c]) => c === TOKEN[at])?.[1];
      tries++;
      if (looks.filter(([, look]) => look === right).length === 1 && right !== undefined) told++;
    }
    console.log(`cuts, ${name}: ${told} of ${tries} characters told (${tries * ALPHABET.length} probes)`);
  }
}

function cpuMs(text: Buffer, searcher = SEARCHER): number {
  const begun = process.cpuUsage();
  const scrubber = new Scrubber(searcher);
  for (let at = 0; at < text.length; at += 65_536) scrubber.push(text.subarray(at, at + 65_536), 0);
  scrubber.end();
  return process.cpuUsage(begun).user / 1000;
}

const filled = (unit: string, bytes: number) =>
  Buffer.from(unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes));
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** A body that is full of right beginnings takes as long as one that is full of wrong ones. */
function timesOfBeginnings(): void {
  for (const [name, encode] of Object.entries(ENCODE)) {
    for (const length of [4, 20, 60]) {
      const right = TOKEN.slice(0, length);
      const times: [number[], number[]] = [[], []];
      for (let round = 0; round < 40; round++) {
        const wrong = right.slice(0, -1) + pick();
        times[0].push(cpuMs(filled(encode(`${right}~`), 500_000)));
        times[1].push(cpuMs(filled(encode(`${wrong}~`), 500_000)));
      }
      console.log(
        `time of 500 kB of ${length} characters, ${name}: right ${median(times[0]).toFixed(2)} ms, last one wrong ${median(times[1]).toFixed(2)} ms`,
      );
    }
  }
}

function costs(): void {
  const texts: Readonly<Record<string, Buffer>> = {
    JSON: filled(
      '{"name":"some thing","id":12345,"tags":["alpha","beta"],"url":"https://a.example/x?y=1"}',
      10e6,
    ),
    HTML: filled('<div class="a b" id="c">some &amp; text</div>\n', 10e6),
    words: filled('The quick brown fox jumps over the lazy dog and ', 10e6),
    'random bytes': randomBytes(10e6),
    'base64 without breaks': filled(randomBytes(1e6).toString('base64'), 10e6),
    'one letter': filled('a', 10e6),
    'the token without its last character': filled(TOKEN.slice(0, -1), 10e6),
    'the same, percent-encoded': filled(ENCODE.percent!(TOKEN.slice(0, -1)), 10e6),
    'the same as references': filled(
      [...TOKEN.slice(0, -1)].map((c) => `&#${c.charCodeAt(0)};`).join(''),
      10e6,
    ),
  };
  for (const [name, text] of Object.entries(texts)) {
    console.log(`10 MB, ${name}: ${median([0, 1, 2].map(() => cpuMs(text))).toFixed(0)} ms`);
  }
  const sixtyFour = new Searcher(['a'.repeat(64)]);
  console.log(
    `10 MB of one letter, a key of 64 of it: ${cpuMs(texts['one letter']!, sixtyFour).toFixed(0)} ms`,
  );
  for (const kilobytes of [1, 4, 16]) {
    const value = randomBytes(kilobytes * 768).toString('base64url');
    new Searcher([value]);
    const begun = performance.now();
    new Searcher([`${value}x`]);
    console.log(`a new token of ${kilobytes} KB: ${(performance.now() - begun).toFixed(1)} ms`);
  }
}

learnedByCuts();
timesOfBeginnings();
costs();
