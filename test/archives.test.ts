import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { archiveReadme, BINARIES, UNIX_LAUNCHER } from '../scripts/archives.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const sum = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

t.test('npm pack gives the same bytes in different folders at different times', async (t) => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
  const sums = ['one', 'another folder'].map((name, i) => {
    const folder = t.testdir({});
    const copy = join(folder, name);
    mkdirSync(copy);
    for (const file of [...files, 'package.json', 'README.md', 'LICENSE'])
      cpSync(join(ROOT, file), join(copy, file), { recursive: true });
    for (const entry of readdirSync(copy, { recursive: true, encoding: 'utf8' }))
      utimesSync(join(copy, entry), i * 1_000_000, i * 1_000_000);
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: copy });
    return sum(join(copy, readdirSync(copy).find((each) => each.endsWith('.tgz'))!));
  });
  t.equal(sums[0], sums[1]);
});

t.test(
  'the launcher runs the Node beside it with all arguments, also through a link and in a path with a blank',
  async (t) => {
    const folder = t.testdir({
      'with blank': {
        bearerd: UNIX_LAUNCHER,
        runtime: { node: '#!/bin/sh\nprintf "%s|" "$@"' },
        app: { dist: { 'main.js': '' } },
      },
      link: t.fixture('symlink', 'with blank/bearerd'),
      'another link': t.fixture('symlink', 'link'),
    });
    execFileSync('chmod', [
      '+x',
      join(folder, 'with blank/bearerd'),
      join(folder, 'with blank/runtime/node'),
    ]);
    const main = join(folder, 'with blank/app/dist/main.js');
    for (const name of ['with blank/bearerd', 'link', 'another link'])
      t.equal(
        execFileSync(join(folder, name), ['check', 'a b'], {
          encoding: 'utf8',
          env: { PATH: '/usr/bin:/bin' },
        }),
        `${main}|check|a b|`,
        name,
      );
  },
);

t.test("links of an archive's README lead to files in the archive", async (t) => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
  const text = archiveReadme(readFileSync(join(ROOT, 'README.md'), 'utf8'));
  const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, target]) => target!);
  const local = links.filter((target) => !target.startsWith('http'));
  t.ok(local.includes('app/docs/platforms.md'));
  for (const target of local) {
    const path = target.replace(/^app\//, '');
    const packed = path === 'LICENSE' || files.includes(path.split('/')[0]!);
    t.ok(packed && existsSync(join(ROOT, path)), target);
  }
});

t.test(
  'the archives have a full Node version, the four systems, and an integrity for each package',
  async (t) => {
    const { version, systems } = BINARIES;
    t.match(version, /^\d+\.\d+\.\d+$/);
    t.same(Object.keys(systems).sort(), ['darwin-arm64', 'linux-arm64', 'linux-x64', 'win-x64']);
    for (const { integrity } of Object.values(systems)) t.match(integrity, /^sha512-[\w+/]{86}==$/);
  },
);
