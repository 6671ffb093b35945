import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { notesOf, withHome } from '../scripts/release.ts';

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

t.test('it is made of a tag: tarball, bill of materials, notes and checksums', async (t) => {
  const work = t.testdir({ home: {} });
  const home = join(work, 'home');
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  });
  for (const name of files
    .toString()
    .split('\0')
    .filter((file) => file !== '' && !file.startsWith('test/')))
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
  const { status, stderr } = run(`v${version}`, '--repository', HOME, '--out', out);
  t.equal(status, 0, stderr);
  const made = readdirSync(out).sort();
  t.same(made, ['NOTES.md', 'SHA256SUMS', `bearerd-${version}.cdx.json`, `bearerd-${version}.tgz`]);
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
