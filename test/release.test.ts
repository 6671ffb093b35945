import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { bundle } from '../scripts/bundle.ts';
import { clusterTool } from '../scripts/cluster-tools.ts';
import { fixedTar } from '../scripts/fixed-tar.ts';
import { imageBill } from '../scripts/image/bill.ts';
import { located } from '../scripts/image/engine.ts';
import { notesOf, withHome } from '../scripts/release.ts';
import { withSerialNumber } from '../scripts/serial-number.ts';
import { PLACES, released } from '../scripts/version.ts';
import { exploitability, STATEMENTS, type Statement } from '../scripts/vex.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HOME = 'https://git.example.com/us/bearerd';

t.test('a release needs the URL of its repository', async (t) => {
  for (const none of [
    undefined,
    '',
    'git.example.com',
    'http://git.example.com/x',
    'https://repository.invalid/bearerd',
  ])
    t.throws(() => withHome({ version: '1.0.0' }, none), /--repository/);
  t.match(withHome({ version: '1.0.0' }, `${HOME}.git`), {
    homepage: `${HOME}#readme`,
    bugs: { url: `${HOME}/issues` },
    repository: { url: `git+${HOME}.git` },
  });
});

t.test("the release notes are the changelog's section of the version", async (t) => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n- c\n\n## [1.1.0] - 2026-11-28\n\n- b\n\n## [1.0.0]\n\n- a\n';
  t.equal(notesOf(changelog, '1.1.0'), '## [1.1.0] - 2026-11-28\n\n- b\n');
  t.equal(notesOf(changelog, '1.0.0'), '## [1.0.0]\n\n- a\n');
  t.throws(() => notesOf(changelog, '2.0.0'), /nothing of 2\.0\.0/);
});

t.test('npm version writes the version into every file that has it', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const [name, place] of Object.entries(PLACES)) {
    const found = readFileSync(join(ROOT, name), 'utf8').match(place);
    t.same([...new Set(found)], [version], name);
  }
  const elsewhere = execFileSync('git', ['grep', '-lF', `bearerd:${version}`], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  t.same(
    elsewhere
      .trim()
      .split('\n')
      .filter((name) => !(name in PLACES)),
    [],
  );
});

t.test('npm version gives the unreleased changes a version and a date', async (t) => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n- b\n\n## [1.0.0] - 2026-11-27\n\n- a\n';
  const dated = released(changelog, '1.1.0', '2026-11-28');
  t.equal(notesOf(dated, '1.1.0'), '## [1.1.0] - 2026-11-28\n\n- b\n');
  t.match(dated, /^# Changelog\n\n## \[Unreleased\]\n\n## \[1\.1\.0\]/);
  t.throws(() => released(changelog, '1.0.0', '2026-11-28'), /1\.0\.0 already/);
  t.throws(() => released('# Changelog\n', '1.1.0', '2026-11-28'), /Unreleased/);
});

t.test(
  'if programs for the image are missing, the error names them and the packages to install',
  async (t) => {
    t.throws(
      () => located(['buildah', 'podman'], ['/nowhere']),
      /^buildah, podman: not there\..*apt-get install/,
    );
  },
);

t.test('the bill of materials of an image lists the bundle, Node and the system packages', async (t) => {
  const bundle = JSON.stringify({
    bomFormat: 'CycloneDX',
    metadata: { component: { type: 'application', name: 'bearerd' } },
    components: [{ name: 'pino' }],
  });
  const debian = 'libc6 2.36-9+deb12u10 amd64\nlibstdc++6 12.2.0-14 amd64\n';
  const bill = JSON.parse(imageBill({ bundle, node: '26.10.0', debian }));
  t.match(bill, { bomFormat: 'CycloneDX', metadata: { component: { type: 'container', name: 'bearerd' } } });
  t.not(bill.serialNumber, JSON.parse(imageBill({ bundle, node: '26.10.1', debian })).serialNumber);
  t.same(
    bill.components.map(({ purl }: { purl?: string }) => purl),
    [
      undefined,
      'pkg:generic/node@26.10.0',
      'pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64',
      'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=amd64',
    ],
  );
});

const UUID = '3e671687-395b-41f5-a30f-a58921a69b79';

t.test('the serial number of a document is a UUID made from its content', async (t) => {
  const { serialNumber } = withSerialNumber({ a: 1 });
  t.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(withSerialNumber({ a: 1 }).serialNumber, serialNumber);
  t.not(withSerialNumber({ a: 2 }).serialNumber, serialNumber);
});

const BUNDLE = JSON.stringify({
  serialNumber: `urn:uuid:${UUID}`,
  version: 1,
  metadata: { component: { name: 'bearerd' } },
  components: [
    { name: 'pino', 'bom-ref': 'pkg:npm/pino@10.4.0' },
    { group: '@fastify', name: 'http-proxy', 'bom-ref': 'pkg:npm/%40fastify/http-proxy@11.6.3' },
  ],
});
const STATEMENT: Statement = {
  id: 'CVE-2026-12345',
  package: '@fastify/http-proxy',
  state: 'not_affected',
  justification: 'code_not_reachable',
  detail: 'No WebSocket goes through it.',
};

t.test('the VEX has an analysis of each known vulnerability of a bundled package', async (t) => {
  t.match(JSON.parse(exploitability([], BUNDLE)), { bomFormat: 'CycloneDX', vulnerabilities: [] });
  const other = { ...STATEMENT, id: 'GHSA-2345-6789-cfgh', package: 'pino' };
  const document = JSON.parse(exploitability([STATEMENT, other], BUNDLE));
  t.match(document.metadata.component, { name: 'bearerd' });
  t.match(document.vulnerabilities, [
    {
      id: 'CVE-2026-12345',
      source: { url: 'https://nvd.nist.gov/vuln/detail/CVE-2026-12345' },
      analysis: { state: 'not_affected', justification: 'code_not_reachable', detail: /WebSocket/ },
      affects: [{ ref: `urn:cdx:${UUID}/1#pkg:npm/%40fastify/http-proxy@11.6.3` }],
    },
    {
      source: { url: 'https://github.com/advisories/GHSA-2345-6789-cfgh' },
      affects: [{ ref: `urn:cdx:${UUID}/1#pkg:npm/pino@10.4.0` }],
    },
  ]);
});

t.test('an incomplete statement, or one about a package outside the bundle, is an error', async (t) => {
  const wrong: [change: Partial<Statement>, error: RegExp][] = [
    [{ package: 'left-pad' }, /left-pad is not in the bundle/],
    [{ id: 'XYZ-1' }, /XYZ-1: neither CVE-YEAR-NUMBER nor GHSA/],
    [{ state: 'fine' as never }, /the state is/],
    [{ justification: 'we looked' as never }, /has a justification: code_not_present/],
    [{ detail: ' ' }, /how it is known/],
  ];
  for (const [change, error] of wrong)
    t.throws(() => exploitability([{ ...STATEMENT, ...change }], BUNDLE), error);
});

t.test('the statements of this version are about packages in the bundle', async (t) => {
  const folder = t.testdir();
  await bundle(folder);
  const bill = readFileSync(join(folder, 'sbom.cdx.json'), 'utf8');
  t.equal(JSON.parse(exploitability(STATEMENTS, bill)).vulnerabilities.length, STATEMENTS.length);
});

/** Makes a repository with these sources and the tag of their version. */
function tagged(home: string): string {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  });
  for (const name of files
    .toString()
    .split('\0')
    .filter((file) => file !== '' && !/^test\/(?!support\/)/.test(file)))
    cpSync(join(ROOT, name), join(home, name));
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  const { version } = manifest;
  writeFileSync(join(home, 'CHANGELOG.md'), `# Changelog\n\n## [${version}]\n\n- all of it\n`);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: home });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'all of it');
  git('tag', `v${version}`);
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  return version;
}

const run = (home: string, ...args: string[]) =>
  spawnSync(process.execPath, ['scripts/release.ts', ...args], { cwd: home, encoding: 'utf8' });
const HELM = clusterTool('helm');
const WITHOUT = ['image', 'archives', ...(HELM === undefined ? ['chart'] : [])].flatMap((part) => [
  '--without',
  part,
]);

t.test('a release from a tag has tarball, chart, bills of materials, VEX, notes and checksums', async (t) => {
  const work = t.testdir({ home: {} });
  const home = join(work, 'home');
  const version = tagged(home);
  const out = join(work, 'out');

  t.match(run(home, `v${version}`, '--out', out), { status: 1, stderr: /--repository/ });
  t.match(run(home, 'v99.0.0', '--repository', HOME, '--out', out), {
    status: 1,
    stderr: /no tag v99\.0\.0/,
  });
  t.match(run(home, `v${version}`, '--repository', HOME, '--without', 'tarball'), {
    status: 1,
    stderr: /no part tarball/,
  });
  const { status, stderr } = run(home, `v${version}`, '--repository', HOME, '--out', out, ...WITHOUT);
  t.equal(status, 0, stderr);
  const made = readdirSync(out).sort();
  const chart = HELM === undefined ? [] : [`bearerd-chart-${version}.tgz`];
  t.same(
    made,
    [
      'NOTES.md',
      'SHA256SUMS',
      `bearerd-${version}.cdx.json`,
      `bearerd-${version}.vex.cdx.json`,
      `bearerd-${version}.tgz`,
      ...chart,
    ].sort(),
  );
  const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8');
  for (const name of made.filter((file) => file !== 'SHA256SUMS')) {
    const sum = createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
    t.ok(sums.includes(`${sum}  ${name}\n`), name);
  }
  const packed = execFileSync('tar', ['-xzOf', join(out, `bearerd-${version}.tgz`), 'package/package.json']);
  t.match(JSON.parse(packed.toString()), { version, homepage: `${HOME}#readme` });
});

t.test(
  'helm renders the chart of a release',
  { skip: HELM === undefined && 'there is no helm' },
  async (t) => {
    const work = t.testdir({ chart: {} });
    cpSync(join(ROOT, 'deploy/helm/bearerd'), join(work, 'chart/bearerd'), { recursive: true });
    const sums = [1, 2].map((time) => {
      utimesSync(join(work, 'chart/bearerd/Chart.yaml'), time, time);
      chmodSync(join(work, 'chart/bearerd/Chart.yaml'), time === 1 ? 0o600 : 0o664);
      fixedTar(join(work, 'chart'), 'bearerd', join(work, 'chart.tgz'));
      return createHash('sha256')
        .update(readFileSync(join(work, 'chart.tgz')))
        .digest('hex');
    });
    t.equal(sums[0], sums[1], 'neither times nor modes change the archive');
    const values = join(ROOT, 'deploy/helm/bearerd/ci/example-values.yaml');
    const { status, stdout, stderr } = spawnSync(
      HELM!,
      ['template', 'x', join(work, 'chart.tgz'), '--values', values],
      { encoding: 'utf8' },
    );
    t.equal(status, 0, stderr);
    t.match(stdout, /kind: NetworkPolicy/);
  },
);
