import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { LeakWatch } from '../fuzz/canaries.ts';

const EVERYTHING = fileURLToPath(new URL('everything.ts', import.meta.url));

function leak(bytes: Buffer): string | undefined {
  const watch = new LeakWatch();
  watch.push(bytes);
  return watch.leaked;
}

for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']) {
  t.test(`whatever an error holds, no log line and no metric shows it, at the level ${level}`, async (t) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [EVERYTHING, level]);
    t.equal(status, 0);
    t.equal(leak(stdout), undefined);
    t.equal(leak(stderr), undefined);
    const lines = stdout.toString().split('\n').length;
    if (['trace', 'debug', 'info', 'warn'].includes(level)) t.ok(lines > 100, `${lines} lines`);
    t.match(stderr.toString(), /bearerd_logins_total\{.*result="refused"\} 4/);
  });
}
