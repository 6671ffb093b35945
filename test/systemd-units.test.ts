import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

// The units as systemd reads them. Skipped without its tools.

const FOLDER = join(import.meta.dirname, '../deploy/systemd');
const units = readdirSync(FOLDER);
const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', args, { encoding: 'utf8', timeout: 300_000 });
const { status } = analyze('--version');
const skip = status === 0 ? false : 'systemd-analyze is not installed';
/** Of 100, the worst: the least exposure of a service that compiles at run time and uses the network. */
const MOST_EXPOSURE = '20';

t.test('systemd verifies the units without a complaint', { skip }, async (t) => {
  const dir = t.testdir({});
  for (const unit of units) {
    const text = readFileSync(join(FOLDER, unit), 'utf8');
    writeFileSync(join(dir, unit), text.replaceAll('/usr/local/bin/bearerd', process.execPath)); // The program must exist.
  }
  const { stdout, stderr } = analyze('verify', '--man=no', ...units.map((unit) => join(dir, unit)));
  const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('bearerd'));
  t.same(ours, []);
});

t.test('the exposure of the service is low', { skip }, async (t) => {
  const path = join(FOLDER, 'bearerd.service');
  const result = analyze('security', '--no-pager', '--offline=true', `--threshold=${MOST_EXPOSURE}`, path);
  t.equal(result.status, 0, `${result.stdout.split('\n').slice(-3).join(' ')}${result.stderr}`);
});

t.test('the install command in the docs fills in the path of the program', async (t) => {
  const docs = readFileSync(join(FOLDER, '../../docs/running.md'), 'utf8');
  const command = /^sed ".*" bearerd\.service/m.exec(docs)?.[0];
  const dir = t.testdir({ bearerd: '#!/bin/sh\n' });
  chmodSync(join(dir, 'bearerd'), 0o755);
  const env = { PATH: `${dir}:${process.env.PATH}` };
  const { stdout } = spawnSync('/bin/sh', ['-c', command ?? 'false'], { cwd: FOLDER, encoding: 'utf8', env });
  t.equal(/^ExecStart=(.*)$/m.exec(stdout)?.[1], `${dir}/bearerd start`);
  t.ok(
    readFileSync(join(FOLDER, 'bearerd.service'), 'utf8').includes(command ?? '?'),
    'the unit has the same command',
  );
});
