import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { pathOf } from '../support/manifests.ts';

const verify = (...files: string[]) =>
  spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8', timeout: 300_000 });
const skip = verify('--version').error !== undefined && 'there is no systemd-analyze (Debian: systemd)';

t.test('systemd understands each unit, and each key in it', { skip }, async (t) => {
  const folder = t.testdir();
  const names = readdirSync(pathOf('systemd')).filter((name) => /\.(?:service|socket)$/.test(name));
  t.not(names.length, 0);
  for (const name of names) {
    // bearerd may not be installed here.
    const text = readFileSync(pathOf(join('systemd', name)), 'utf8').replace(
      /^(ExecStart=)\S+/m,
      `$1${process.execPath}`,
    );
    writeFileSync(join(folder, name), text);
  }
  // It says of an unknown key that it ignores it, and ends with 0.
  const { status, stdout, stderr } = verify(...names.map((name) => join(folder, name)));
  t.same([status, stdout + stderr], [0, '']);
});
