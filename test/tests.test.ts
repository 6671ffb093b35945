import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import './support/folder-last.ts';

// Rules for the tests themselves, as far as their text shows whether they are kept.
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.includes('fixtures') && name !== 'tests.test.ts')
  .map((name) => ({ name, text: readFileSync(join(import.meta.dirname, name), 'utf8') }));

/** How a test starts a proxy, and what in the same file must then check for internal errors. */
const STARTS: readonly (readonly [start: RegExp, watch: RegExp])[] = [
  [/\bnew Gateway\(/, /'internal-error'/],
  [/\bcreateBearerd\(|\bregister\(bearerd\b/, /\bhostLogFor\(/],
  // `start` and `run` of support/cli.ts check what they start.
  [
    /\bspawn\([^;]*\b(?:MAIN|main|program|command)\b/,
    /\b(?:saidBy|assertNoInternalError)\(|internal_errors_total/,
  ],
];
/** Files that are checked elsewhere. */
const OTHERWISE = [
  'fleet/member.ts', // Its caller counts the events.
  'package.test.ts', // The program is only compiled.
];

t.test('each test that starts a proxy checks for internal errors', async (t) => {
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

/** Waits without a time limit. `happens`, `until` and `within` of support/raw-client.ts have one. */
const ENDLESS: readonly RegExp[] = [
  /await once\(/,
  /for \(;;\)/,
  /while \((?![^\n]*performance\.now)[^\n]*\)\s*(?:\{\s*)?await /,
  /await new Promise(?:<\w+>)?\(\((\w+)\) => \w+(?:\.\w+)*\.(?:on|once)\([^\n]*\1\)/,
];

t.test('no test waits without a time limit', async (t) => {
  for (const endless of ENDLESS)
    t.same(
      files
        .filter(({ name, text }) => name.endsWith('.test.ts') && endless.test(text))
        .map(({ name }) => name),
      [],
      `${endless}`,
    );
});

t.test('no test closes a port and then uses it as if it were still free', async (t) => {
  const given =
    /\.close\(\(\) => resolve\(port\)\)|await new Promise(?:<\w+>)?\(\(resolve\) => \w+\.close\(resolve\)\)/;
  t.same(
    files.filter(({ text }) => given.test(text)).map(({ name }) => name),
    [], // `freePort` of support/free-port.ts is a better way.
  );
});

/**
 * An upper bound on a measured time. Instead: `within` and `until` wait for an event, `growthOf` compares two
 * durations, `shortest` takes the best of some tries; and something that must not be waited for lasts very long.
 */
const BOUNDED = /(?:(?:\.now\(\) - \w+|\b(?:took|elapsed)\w*) <=? |cpuUsage\(\)[^\n]* < )[\w_]+/g;
/**
 * A limit below the usual one of support/raw-client.ts, too short on a busy machine: of `until`, `happens`, `within` and
 * `end`, and of a process or a test.
 */
const LIMITED =
  /['`][^'`\n]* [^'`\n]*['`],\s*(\d[\d_]{3,}),?\s*\)|\b(?:within|\.end)\(([\d_]+)[,)]|\btimeout: (\d[\d_]{3,})\b/g;
const LEAST_LIMIT_MS = 60_000;

t.test('no test depends on a short time limit', async (t) => {
  for (const { name, text } of files.filter(({ name }) => !/^(?:soak|load|fleet|evidence)\//.test(name))) {
    t.same(text.match(BOUNDED) ?? [], [], name);
    t.same(
      [...text.matchAll(LIMITED)]
        .filter(([, ...ms]) => Number(ms.join('').replaceAll('_', '')) < LEAST_LIMIT_MS)
        .map(([found]) => found),
      [],
      name,
    );
  }
});

/**
 * The number of fixed waits in each file. They give an event that must not happen the time to happen, or let a time limit
 * of the product pass. For an event that must happen, `until` and `happens` wait no longer than necessary.
 */
const WAITS: Readonly<Record<string, number>> = {
  'app/authenticates.test.ts': 1,
  'app/departures.test.ts': 4,
  'app/early-answers.test.ts': 1,
  'app/explains-failure.test.ts': 2,
  'app/forwards.test.ts': 2,
  'app/heads.test.ts': 4,
  'app/http2-failures.test.ts': 4,
  'app/requests.test.ts': 3,
  'app/shares-troubles.test.ts': 4,
  'app/shares.test.ts': 6,
  'app/shows.test.ts': 2,
  'app/traces.test.ts': 1,
  'app/tunnels.test.ts': 6,
  'base/clock.test.ts': 5,
  'cli/at-rest.test.ts': 3,
  'cli/idle.test.ts': 1,
  'cli/reloads.test.ts': 1,
  'cli/service.test.ts': 1,
  'cli/serving.test.ts': 4,
  'config/watch.test.ts': 3,
  'faults/process.test.ts': 2,
  'integrations/fleet/redis-engine.test.ts': 1,
  'integrations/fleet/shared-login.test.ts': 1,
  'integrations/haproxy/page.test.ts': 1,
  'integrations/haproxy/retries.test.ts': 2,
  'mock/mock-api.test.ts': 1,
  'node/seams.test.ts': 2,
};
const WAIT = /\bsleep\((?!ms, signal)|new Promise(?:<\w+>)?\(\((\w+)\) => setTimeout\(\1|time\.sleep\(/g;

t.test('no file has more fixed waits than listed', async (t) => {
  for (const { name, text } of files.filter(({ name }) => name.endsWith('.test.ts')))
    t.ok([...text.matchAll(WAIT)].length <= (WAITS[name] ?? 0), name);
});

t.test('tests of the spread of renewals set the random source', async (t) => {
  const chances = /new (?:SharedLogin|RenewingSource)\(/;
  t.same(
    files
      .filter(
        ({ name, text }) => !name.startsWith('fleet/') && chances.test(text) && !/\brandom\b/.test(text),
      )
      .map(({ name }) => name),
    [], // `randomFrom` of support/random.ts.
  );
});

t.test('no timer ends a connection that may have unread bytes', async (t) => {
  const timed =
    /setTimeout\(\(\) => (?:[\w.!]+\.(?:reset|end|destroy|resetAndDestroy)|[\w.]*cut\w*(?:\.get)?)\(|setTimeout\(\w+, \d+\)\);\s*(?:[\w.!]+\.(?:reset|destroy|resetAndDestroy)\(|\w+\[how\]\(|close\()/;
  t.same(
    files
      .filter(({ name, text }) => /^(?:app|login|upstream)\//.test(name) && timed.test(text))
      .map(({ name }) => name),
    [], // `later` and `whenRead` of support/later.ts.
  );
});

t.test('no Unix socket is in a test folder, whose path may be too long', async (t) => {
  t.same(
    files.filter(({ text }) => /unix:\$\{t\.testdir/.test(text)).map(({ name }) => name),
    [], // `mkdtemp` in the system's temporary folder gives a short path.
  );
});

t.test('no property is tried with cases that each run of `npm test` draws anew', async (t) => {
  t.same(
    files
      .filter(({ name, text }) => name !== 'support/properties.ts' && /from 'fast-check'/.test(text))
      .map(({ name }) => name),
    [], // `fc` of support/properties.ts.
  );
});

t.test('no test keeps a request under way by a delay, in which the machine may be elsewhere', async (t) => {
  t.same(
    files
      .filter(({ name, text }) => !name.startsWith('mock/') && /\b(?:data|login)DelayMs: /.test(text))
      .map(({ name }) => name),
    [], // An upstream that answers when the test says so.
  );
});

t.test('no figure of memory is one look, since a busy machine frees later', async (t) => {
  t.same(
    files.filter(({ text }) => /\(await usedBytes\(\)\) - /.test(text)).map(({ name }) => name),
    [], // `leastBytes` of support/memory.ts.
  );
});

t.test('no two tests share a file outside their own folders', async (t) => {
  const shared =
    /join\(tmpdir\(\), '[^']*'\)(?<!mkdtemp(?:Sync)?\(join\(tmpdir\(\), '[^']*'\))|['"`]\/tmp\/\w/;
  t.same(
    files.filter(({ text }) => shared.test(text)).map(({ name }) => name),
    [],
  );
});

t.test('the folder of a test is removed after its teardowns', async (t) => {
  const seen: boolean[] = [];
  let dir = '';
  await t.test('the folder is made first', async (t) => {
    dir = t.testdir({ file: '' });
    t.teardown(() => seen.push(existsSync(join(dir, 'file'))));
  });
  t.same(seen, [true]);
  t.notOk(existsSync(dir));
});
