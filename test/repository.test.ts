import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parse } from 'yaml';

// The files that a code host reads, and how the documents refer to files and to each other.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
const workflows = filesIn('.github/workflows', '.yml');

t.test('each action is pinned to the commit of a release', async (t) => {
  const uses = workflows.flatMap((name) => read(name).match(/uses:.*/g) ?? []);
  t.not(uses.length, 0);
  for (const line of uses) t.match(line, /^uses: [\w-]+\/[\w-]+(?:\/[\w-]+)?@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<
      string,
      {
        'timeout-minutes': number;
        permissions?: object;
        steps: { id?: string; uses?: string; run?: string; with?: Record<string, string>; env?: object }[];
      }
    >
  >;
}

t.test('the CI workflow runs .ci/run with a time limit, and may only read', async (t) => {
  const workflow = parse(read('.github/workflows/ci.yml')) as Workflow;
  t.same(workflow.permissions, { contents: 'read' });
  const { steps, 'timeout-minutes': minutes } = workflow.jobs.ci!;
  t.ok(steps.some(({ run }) => run === '.ci/run'));
  t.equal(minutes, 25);
});

t.test('each workflow may only read, keeps no token, and calls existing scripts', async (t) => {
  t.ok(workflows.length >= 4);
  const all = workflows.map((name) => parse(read(name)) as Workflow);
  for (const { permissions } of all) t.same(permissions, { contents: 'read' });
  const jobs = all.flatMap((workflow) => Object.values(workflow.jobs));
  for (const job of jobs) {
    t.match(job.steps[0], { uses: /^actions\/checkout@/, with: { 'persist-credentials': false } });
    t.ok(job['timeout-minutes'] > 0);
    // An expression is pasted into the script, so that a name with a quote would be executed.
    for (const { run } of job.steps) t.notMatch(run ?? '', /\$\{\{/);
  }
  const scripts = jobs.flatMap((job) => job.steps.flatMap(({ run }) => run ?? []));
  const called = scripts.flatMap((run) => [...run.matchAll(/npm run (\S+)/g)].map(([, name]) => name!));
  const { scripts: known } = JSON.parse(read('package.json')) as { scripts: object };
  t.same(
    called.filter((name) => !(name in known)),
    [],
  );
});

t.test('the release workflow attests every file of a release, and attaches the attestations', async (t) => {
  const { jobs } = parse(read('.github/workflows/release.yml')) as Workflow;
  const { steps, permissions } = jobs.release!;
  t.same(permissions, { contents: 'write', 'id-token': 'write', attestations: 'write' });
  const provenance = steps.findIndex(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'));
  t.equal(steps[provenance]?.with?.['subject-checksums'], 'release/SHA256SUMS', 'SHA256SUMS names each file');
  const bills = steps.filter(({ uses }) => uses?.startsWith('actions/attest-sbom@'));
  const subjects = bills.map((step) => step.with?.['subject-path'] ?? '').join(' ');
  for (const ending of ['.tgz', '.tar.gz', '.zip', '.image.tar.gz']) t.match(subjects, ending);
  const copied = steps.find(({ run }) => run?.includes('.sigstore.json'));
  for (const { id } of [steps[provenance]!, ...bills])
    t.ok(Object.values(copied?.env ?? {}).includes(`\${{ steps.${id}.outputs.bundle-path }}`), `${id}`);
  const published = steps.findIndex(({ run }) => run?.startsWith('gh release create'));
  t.match(steps[published]?.run, / release\/\*$/);
  const order = [provenance, steps.indexOf(copied!), published];
  t.same(
    order,
    order.toSorted((a, b) => a - b),
  );
  t.notMatch(JSON.stringify(steps), /secrets\./, 'the workflow has no long-lived token');
});

t.test('Dependabot updates the bundled packages in one group', async (t) => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: { groups?: { bundled: { patterns: string[] } } }[];
  };
  const imported = filesIn('src', '.ts').flatMap((name) =>
    [
      ...read(name).matchAll(/^(?:import|export) (?!type).*?from '([^.'][^']*)'|import\('([^.'][^']*)'\)/gms),
    ].map(([, plain, lazy]) => (plain ?? lazy)!),
  );
  const packages = imported
    .filter((name) => !name.startsWith('node:'))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
  t.same(updates[0]!.groups!.bundled.patterns.toSorted(), [...new Set(packages)].sort());
});

t.test('the issue templates are valid forms', async (t) => {
  for (const name of filesIn('.github/ISSUE_TEMPLATE', '.yml').filter(
    (file) => !file.endsWith('config.yml'),
  )) {
    const form = parse(read(name)) as { name: string; description: string; body: { type: string }[] };
    t.ok(form.name && form.description, name);
    for (const { type } of form.body) t.ok(['markdown', 'textarea', 'input'].includes(type), type);
  }
  t.match(read('.github/ISSUE_TEMPLATE/fault.yml'), 'SECURITY.md');
});

const areas = filesIn('docs/decisions', '.md').filter((name) => !name.endsWith('README.md'));
const sections = areas.flatMap((page) =>
  read(page)
    .split(/^### /m)
    .slice(1)
    .map((entry) => {
      const [title = '', ...lines] = entry.split('\n');
      return { page: page.split('/').at(-1)!, title, text: lines.join('\n') };
    }),
);
const words = sections.map(({ title, text }) => `${title} ${text}`.replaceAll(/\s+/g, ' ')).join('\n');

t.test('each decision has a date, context, choice and price', async (t) => {
  t.not(sections.length, 0);
  for (const { title, text } of sections) {
    t.match(text, /^\n\*\d{4}-\d{2}-\d{2}\.\* \*/, title);
    for (const part of ['*Context.*', '*Choice.*', '*Price.*'])
      t.ok(text.includes(part), `${title}: ${part}`);
  }
});

t.test('the index lists the decisions in force, and each superseded one names its successor', async (t) => {
  const listed = [...read('docs/decisions/README.md').matchAll(/^- (.*)$/gm)].map(([, title]) => title!);
  const holding = sections.filter(({ page }) => page !== 'superseded.md').map(({ title }) => title);
  t.same(listed.toSorted(), holding.toSorted());
  for (const { title, text } of sections.filter(({ page }) => page === 'superseded.md')) {
    const [, later] =
      /\*Superseded on \d{4}-\d{2}-\d{2} by "([^"]+)"/.exec(text.replaceAll(/\s+/g, ' ')) ?? [];
    t.ok(holding.includes(later ?? ''), title);
  }
});

/** Phrases of the decisions with `#` for a number; the file with that number, the pattern that finds it, its unit. */
const NUMBERS: readonly (readonly [words: string, file: string, place: RegExp, unit?: number])[] = [
  ['Transit margin: # % of the life', 'src/login/access-token.ts', /TRANSIT_SHARE = (\S+);/, 0.01],
  ['of the life, at most # ms', 'src/login/access-token.ts', /MAX_TRANSIT_MS = (\S+);/],
  [
    'Connections to the upstream: # s of age',
    'src/upstream/connection-limits.ts',
    /CONNECTION_MAX_AGE_MS = (\S+);/,
    1_000,
  ],
  ['of age, # s of idleness', 'src/upstream/connection-limits.ts', /UPSTREAM_IDLE_MS = (\S+);/, 1_000],
  [
    'Client connections may be idle for # s',
    'src/listen/http-listeners.ts',
    /CLIENT_IDLE_MS = (\S+);/,
    1_000,
  ],
  ['after a reserve of # are clients', 'src/app/open-files.ts', /RESERVED = (\S+);/],
  ['Of those refused, # at a time', 'src/listen/http-listeners.ts', /MAX_LINGERING = (\S+);/],
  ['gives each address # ms', 'src/upstream/dial.ts', /ATTEMPT_DELAY_MS = (\S+);/],
  ['the proxy keeps # events', 'src/observe/recent.ts', /REQUESTS = (\S+);/],
  ['a user with # windows', 'src/listen/status-feed.ts', /MAX_CLIENTS = (\S+);/],
  ['pieces up to # KiB are joined', 'src/listen/joined-request.ts', /SMALL_BYTES = (.+);/, 1_024],
  ['or up to # KiB while there is no reader', 'src/listen/joined-request.ts', /BLOCK_BYTES = (.+);/, 1_024],
  ['the end for # seconds', 'src/integrations/otel/open-telemetry.ts', /CLOSE_LIMIT_MS = (\S+);/, 1_000],
  ['at most # MiB wait', 'src/observe/log-output.ts', /MAX_HELD_BYTES = (.+);/, 1_024 ** 2],
  ['at most # KiB of it', 'src/login/whole-answer.ts', /MAX_ANSWER_BYTES = (.+);/, 1_024],
  ['one line of 1 to # harmless', 'src/listen/request-id.ts', /\{1,(\d+)\}/],
  ['# MiB of young objects and one heap', 'Dockerfile', /--max-semi-space-size=(\d+)/],
  ['Node # and 26.10, each', 'package.json', /"node": "\^(\d+\.\d+)\./],
  ['CI wants # %', '.ci/run', /COVERAGE_FLOOR=(\d+)/],
  [
    '`BEARERD_DRAIN_TIMEOUT=#s`',
    'deploy/kubernetes/component/sidecar.yaml',
    /DRAIN_TIMEOUT\n +value: (\d+)s/,
  ],
  ['`USER #:', 'Dockerfile', /^USER (\d+):/m],
];

t.test('numbers quoted in decisions are those in the code', async (t) => {
  for (const [phrase, file, place, unit = 1] of NUMBERS) {
    const [, found] = place.exec(read(file)) ?? [];
    t.ok(found, `${file}: ${place}`);
    // Numbers may be products, such as `4 * 1024`.
    const value = found!
      .replaceAll('_', '')
      .split('*')
      .reduce((product, factor) => product * Number(factor), 1);
    const number = String(Number((value / unit).toFixed(6))).replace(/^(\d+)\.1$/, '$1.10');
    t.ok(words.includes(phrase.replace('#', number)), phrase.replace('#', number));
  }
});

/** The text in backticks, without code blocks. */
const quoted = (text: string) =>
  [...text.replace(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner);
/** Every file and folder of the repository's main folders, such as `src/cli/run.ts` and `src/cli/`. */
const known = ['src', 'test', 'docs', 'scripts', 'bench', 'deploy', 'config'].flatMap((folder) => [
  `${folder}/`,
  ...readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).map((entry) => {
    const path = relative(ROOT, join(entry.parentPath, entry.name));
    return entry.isDirectory() ? `${path}/` : path;
  }),
]);
/** A page may name a file by the end of its path, and several with an asterisk. */
function exists(name: string): boolean {
  const pattern = new RegExp(`(?:^|/)${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
  return known.some((path) => pattern.test(path)) || existsSync(join(ROOT, name));
}

for (const page of ['CONTRIBUTING.md', 'docs/architecture.md']) {
  t.test(`${page} names existing files, folders and commands`, async (t) => {
    const words = quoted(read(page));
    const named = words.flatMap((word) =>
      /\s/.test(word)
        ? (word.match(/[\w/-]+\.test\.ts/g) ?? [])
        : /(?:\/|\.ts|\.md)$/.test(word)
          ? [word]
          : [],
    );
    t.not(named.length, 0);
    for (const name of named) t.ok(exists(name), name);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
    const commands = [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    for (const name of commands) t.ok(name in scripts, `npm run ${name}`);
  });
}

t.test('the way of a request in docs/architecture.md names existing files', async (t) => {
  const [, drawing = ''] = /^```\n(.*?)^```/ms.exec(read('docs/architecture.md')) ?? [];
  const named = drawing.match(/\b[a-z]+(?:\/[a-z\d-]+)+/g) ?? [];
  t.not(named.length, 0);
  for (const name of named) t.ok(exists(`${name}.ts`), name);
});
