import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { PATIENCE_MS } from '../support/raw-client.ts';

const MODULE = new URL('../../src/node/exit.ts', import.meta.url).href;

/** Runs a program that has `exit`, `leave`, `finish` and the path of a pipe without a writer. */
function ends(path: string, program: string) {
  const text = `
    import { lookup } from 'node:dns';
    import fs from 'node:fs';
    import { open } from 'node:fs/promises';
    import { exit, finish, leave } from ${JSON.stringify(MODULE)};
    const path = ${JSON.stringify(path)};
    process.on('exit', (code) => console.log('listener', code));
    ${program}`;
  const args = ['--input-type=module', '--eval', text];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: {},
    timeout: PATIENCE_MS,
    killSignal: 'SIGINT',
  });
  return { status, signal, said: stdout + stderr };
}

t.test('a process ends with its code while a thread of the pool hangs', async (t) => {
  const path = join(t.testdir({}), 'pipe');
  t.equal(spawnSync('mkfifo', [path]).status, 0);
  const orderly = { status: 3, signal: null, said: 'listener 3\n' };
  for (const hangs of [
    'fs.open(path, () => {});',
    'open(path).catch(() => {});',
    "(await open(path, 'r+')).read(Buffer.alloc(1));",
  ])
    for (const end of ['exit(3)', 'leave(3)', 'finish(3)'])
      t.same(ends(path, `${hangs} setTimeout(() => ${end}, 10);`), orderly, `${hangs} ${end}`);
  t.same(ends(path, 'exit(3)'), orderly, 'and while none does');
  for (const end of ['leave(3)', 'finish(3)']) {
    const pending = `fs.stat('/', () => console.log('done')); ${end};`;
    t.same(ends(path, pending), { ...orderly, said: 'done\nlistener 3\n' }, `${end} lets work end`);
  }
  t.same(
    ends(path, 'fs.open(path, () => {}); finish(3); setTimeout(() => exit(4), 1_500);'),
    { ...orderly, status: 4, said: 'listener 4\n' },
    'finish(3) leaves a process that other work keeps',
  );
  t.same(
    ends(path, 'fs.open(path, () => {}); process.execve = undefined; exit(3);'),
    { status: null, signal: 'SIGKILL', said: 'listener 3\n' },
    'without another program to run, by a signal',
  );
});

t.test('Node lists a name that is being looked up', async (t) => {
  const { said } = ends(
    '',
    "lookup('localhost', () => {}); console.log(process.getActiveResourcesInfo().join());",
  );
  t.match(said, /^(?:.*,)?GetAddrInfoReqWrap/);
});
