import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { clusterTool } from '../scripts/cluster-tools.ts';
import { imageBill } from '../scripts/image/bill.ts';
import { located } from '../scripts/image/engine.ts';
import { notesOf, withHome } from '../scripts/release.ts';
import { PLACES, released } from '../scripts/version.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HOME = 'https://git.example.com/us/bearerd';

t.test('a release has a home, which is named', async (t) => {
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

t.test('its notes are what the changelog says of that version', async (t) => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n- c\n\n## [1.1.0] - 2026-11-28\n\n- b\n\n## [1.0.0]\n\n- a\n';
  t.equal(notesOf(changelog, '1.1.0'), '## [1.1.0] - 2026-11-28\n\n- b\n');
  t.equal(notesOf(changelog, '1.0.0'), '## [1.0.0]\n\n- a\n');
  t.throws(() => notesOf(changelog, '2.0.0'), /nothing of 2\.0\.0/);
});

t.test('npm version writes the version wherever else it stands', async (t) => {
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

t.test('npm version dates what was unreleased', async (t) => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n- b\n\n## [1.0.0] - 2026-11-27\n\n- a\n';
  const dated = released(changelog, '1.1.0', '2026-11-28');
  t.equal(notesOf(dated, '1.1.0'), '## [1.1.0] - 2026-11-28\n\n- b\n');
  t.match(dated, /^# Changelog\n\n## \[Unreleased\]\n\n## \[1\.1\.0\]/);
  t.throws(() => released(changelog, '1.0.0', '2026-11-28'), /1\.0\.0 already/);
  t.throws(() => released('# Changelog\n', '1.1.0', '2026-11-28'), /Unreleased/);
});

t.test('without the programs that make an image it is said which, and where they come from', async (t) => {
  t.throws(
    () => located(['buildah', 'podman'], ['/nowhere']),
    /^buildah, podman: not there\..*apt-get install/,
  );
});

t.test('the bill of an image has the bundle, the Node and the packages below', async (t) => {
  const bundle = JSON.stringify({
    bomFormat: 'CycloneDX',
    metadata: { component: { type: 'application', name: 'bearerd' } },
    components: [{ name: 'pino' }],
  });
  const debian = 'libc6 2.36-9+deb12u10 amd64\nlibstdc++6 12.2.0-14 amd64\n';
  const bill = JSON.parse(imageBill({ bundle, node: '26.10.0', debian }));
  t.match(bill, { bomFormat: 'CycloneDX', metadata: { component: { type: 'container', name: 'bearerd' } } });
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

t.test('it is made of a tag: tarball, chart, bill of materials, notes and checksums', async (t) => {
  const work = t.testdir({ home: {} });
  const home = join(work, 'home');
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
  const out = join(work, 'out');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release.ts', ...args], { cwd: home, encoding: 'utf8' });

  t.match(run(`v${version}`, '--out', out), { status: 1, stderr: /--repository/ });
  t.match(run('v99.0.0', '--repository', HOME, '--out', out), { status: 1, stderr: /no tag v99\.0\.0/ });
  const without = [
    '--without',
    'image',
    ...(clusterTool('helm') === undefined ? ['--without', 'chart'] : []),
  ];
  t.match(run(`v${version}`, '--repository', HOME, '--without', 'tarball'), {
    status: 1,
    stderr: /no part tarball/,
  });
  const { status, stderr } = run(`v${version}`, '--repository', HOME, '--out', out, ...without);
  t.equal(status, 0, stderr);
  const made = readdirSync(out).sort();
  const chart = without.includes('chart') ? [] : [`bearerd-chart-${version}.tgz`];
  t.same(
    made,
    ['NOTES.md', 'SHA256SUMS', `bearerd-${version}.cdx.json`, `bearerd-${version}.tgz`, ...chart].sort(),
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
