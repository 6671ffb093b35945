import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { LeakWatch } from '../fuzz/canaries.ts';
import { COMPILED } from '../support/cli.ts';
import { plainNode } from '../support/plain-node.ts';
import { IS_WHOLE } from '../support/share.ts';

const EVERYTHING = fileURLToPath(new URL('everything.ts', import.meta.url));

function leak(bytes: Buffer): string | undefined {
  const watch = new LeakWatch();
  watch.push(bytes);
  return watch.leaked;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

for (const level of IS_WHOLE ? LEVELS : ['trace', 'warn', 'silent']) {
  t.test(`no log line and no metric shows the content of an error, at the level ${level}`, async (t) => {
    const { status, stdout, stderr } = spawnSync(...plainNode([EVERYTHING, level]), {
      env: { ...process.env, ...COMPILED },
    });
    t.equal(status, 0);
    t.equal(leak(stdout), undefined);
    t.equal(leak(stderr), undefined);
    const lines = stdout.toString().split('\n').length;
    if (['trace', 'debug', 'info', 'warn'].includes(level)) t.ok(lines > 100, `${lines} lines`);
    t.match(stderr.toString(), /bearerd_logins_total\{.*result="refused"\} 4/);
  });
}
