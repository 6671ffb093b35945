import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

// The units as systemd itself reads them. Where its tools are not there, this is skipped.

const FOLDER = join(import.meta.dirname, '../deploy/systemd');
const units = readdirSync(FOLDER);
const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', args, { encoding: 'utf8', timeout: 300_000 });
const { status } = analyze('--version');
const skip = status === 0 ? false : 'systemd-analyze is not there';
/** The least exposed that a service is that compiles at run time and uses the network; 10 is the worst. */
const MOST_EXPOSURE = '20';

t.test('systemd takes the units, and finds nothing wrong', { skip }, async (t) => {
  const dir = t.testdir({});
  for (const unit of units) {
    const text = readFileSync(join(FOLDER, unit), 'utf8');
    writeFileSync(join(dir, unit), text.replaceAll('/usr/local/bin/bearerd', process.execPath)); // It has to be there.
  }
  const { stdout, stderr } = analyze('verify', '--man=no', ...units.map((unit) => join(dir, unit)));
  const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('bearerd'));
  t.same(ours, []);
});

t.test('the service is confined', { skip }, async (t) => {
  const path = join(FOLDER, 'bearerd.service');
  const result = analyze('security', '--no-pager', '--offline=true', `--threshold=${MOST_EXPOSURE}`, path);
  t.equal(result.status, 0, `${result.stdout.split('\n').slice(-3).join(' ')}${result.stderr}`);
});

t.test('the install command of the docs fills in where the program is', async (t) => {
  const docs = readFileSync(join(FOLDER, '../../docs/running.md'), 'utf8');
  const command = /^sed ".*" bearerd\.service/m.exec(docs)?.[0];
  const dir = t.testdir({ bearerd: '#!/bin/sh\n' });
  chmodSync(join(dir, 'bearerd'), 0o755);
  const env = { PATH: `${dir}:${process.env.PATH}` };
  const { stdout } = spawnSync('/bin/sh', ['-c', command ?? 'false'], { cwd: FOLDER, encoding: 'utf8', env });
  t.equal(/^ExecStart=(.*)$/m.exec(stdout)?.[1], `${dir}/bearerd start`);
  t.ok(
    readFileSync(join(FOLDER, 'bearerd.service'), 'utf8').includes(command ?? '?'),
    'the unit says the same',
  );
});
