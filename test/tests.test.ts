import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

// What keeps the tests themselves to be trusted, as far as a machine can see it in their text.
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.includes('fixtures') && name !== 'tests.test.ts')
  .map((name) => ({ name, text: readFileSync(join(import.meta.dirname, name), 'utf8') }));

/** By what a proxy is started, and what in the same file sees to it that it tells of no internal error. */
const STARTS: readonly (readonly [start: RegExp, watch: RegExp])[] = [
  [/\bnew Gateway\(/, /'internal-error'/],
  [/\bcreateBearerd\(|\bregister\(bearerd\b/, /\bhostLogFor\(/],
  // What `start` and `run` of support/cli.ts start is watched there.
  [
    /\bspawn\([^;]*\b(?:MAIN|main|program|command)\b/,
    /\b(?:saidBy|assertNoInternalError)\(|internal_errors_total/,
  ],
];
/** Those for which something else does. */
const OTHERWISE = [
  'fleet/member.ts', // Hands all that it is told to who counts it.
  'package.test.ts', // A program that only the compiler sees.
];

t.test('whatever test starts a proxy learns of its internal errors', async (t) => {
  for (const [start, watch] of STARTS) {
    const starting = files.filter(({ text }) => start.test(text));
    t.not(starting.length, 0, `${start}`);
    t.same(
      starting
        .filter(({ name, text }) => !OTHERWISE.includes(name) && !watch.test(text))
        .map(({ name }) => name),
      [],
      `${watch}`,
    );
  }
});

/** Waits that end by nothing but what they wait for; `happens`, `until` and `within` of support/raw-client.ts have a limit. */
const ENDLESS: readonly RegExp[] = [
  /await once\(/,
  /for \(;;\)/,
  /while \((?![^\n]*performance\.now)[^\n]*\)\s*(?:\{\s*)?await /,
  /await new Promise(?:<\w+>)?\(\((\w+)\) => \w+(?:\.\w+)*\.(?:on|once)\([^\n]*\1\)/,
];

t.test('no test waits without a limit, or without a word of what for', async (t) => {
  for (const endless of ENDLESS)
    t.same(
      files
        .filter(({ name, text }) => name.endsWith('.test.ts') && endless.test(text))
        .map(({ name }) => name),
      [],
      `${endless}`,
    );
});

t.test(
  'no port of those that the system gives out is given back, and used as if it were still free',
  async (t) => {
    const given =
      /\.close\(\(\) => resolve\(port\)\)|await new Promise(?:<\w+>)?\(\(resolve\) => \w+\.close\(resolve\)\)/;
    t.same(
      files.filter(({ text }) => given.test(text)).map(({ name }) => name),
      ['integrations/fleet/redis-engine.test.ts'], // `freePort` of support/free-port.ts is a better way.
    );
  },
);

/** An upper bound on what was measured or waited for: on a machine that does something else as well, two seconds are nothing. */
const TIGHT: readonly RegExp[] = [
  /(?:\.now\(\) - \w+|\b(?:took|elapsed)\w*) <=? ([\d_]+)\b/g,
  /\buntil\([^\n]*['`], ([\d_]+)\)/g,
];

t.test('no test fails because the machine was busy for two seconds', async (t) => {
  for (const { name, text } of files)
    t.same(
      TIGHT.flatMap((tight) => [...text.matchAll(tight)])
        .filter(([, ms]) => Number(ms!.replaceAll('_', '')) < 2_000)
        .map(([found]) => found),
      [],
      name,
    );
});
