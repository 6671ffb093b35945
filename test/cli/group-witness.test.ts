import { spawn } from 'node:child_process';
import t from 'tap';
import { saidBy } from '../support/internal-errors.ts';
import { until } from '../support/raw-client.ts';

/** After a signal from outside it sends itself another one, and tells of each whether its whole group got it. */
const WATCHES_GROUP = `
import { GroupWitness } from ${JSON.stringify(new URL('../../src/cli/group-witness.ts', import.meta.url))};
const witness = new GroupWitness();
process.on('SIGINT', async () => {
  console.log('SIGINT ' + (await witness.saw('SIGINT')));
  process.kill(process.pid, 'SIGTERM');
});
process.on('SIGTERM', async () => {
  console.log('SIGTERM ' + (await witness.saw('SIGTERM')));
  witness.end();
  process.exit();
});
setTimeout(() => process.exit(1), 120000);
console.log('up');
`;

t.test(
  'a signal to this process alone is told from another signal to the group a moment before',
  async (t) => {
    const { PATH } = process.env;
    const child = spawn(process.execPath, ['--input-type=module', '-e', WATCHES_GROUP], {
      env: { PATH, NODE_NO_WARNINGS: '1' },
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output = saidBy(t, child);
    await until(() => output() === 'up\n', 'the process does not start');
    process.kill(-child.pid!, 'SIGINT');
    await until(() => /SIGTERM \w+\n/.test(output()), 'the second signal does not arrive');
    t.same(output().split('\n'), ['up', 'SIGINT true', 'SIGTERM false', '']);
  },
);
