import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { fileStamps } from '../../src/config/file-stamp.ts';
import { plainFile } from '../../src/config/reading/plain-file.ts';
import { type SecretFileWatch, type WatchOptions, watchSecretFiles } from '../../src/config/watch.ts';
import { until } from '../support/raw-client.ts';

type Test = Pick<typeof t, 'teardown'>;

interface Watching extends SecretFileWatch {
  readonly changes: [path: string, content: string][];
  readonly troubles: [path: string, reason: string][];
  /** Waits until each file was checked this many times from now on. */
  readonly looks: (count: number) => Promise<void>;
  /** How often files were read. */
  readonly reads: () => number;
}

/** A watch with a short interval; records changes and troubles. */
async function watch(
  t: Test,
  files: readonly string[],
  options: Partial<WatchOptions> = {},
): Promise<Watching> {
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  const changes: Watching['changes'] = [];
  const troubles: Watching['troubles'] = [];
  let count = 0;
  let reads = 0;
  const watching = watchSecretFiles({
    files,
    intervalMs: 10,
    signal: stop.signal,
    onChange: (path, content) => changes.push([path, content]) > 0,
    onTrouble: (path, reason) => troubles.push([path, reason]),
    stamps: {
      isQuick: async (path) => {
        const isQuick = await fileStamps.isQuick(path);
        if (!isQuick) count += 1;
        return isQuick;
      },
      of: (path) => {
        count += 1;
        return fileStamps.of(path);
      },
    },
    ...options,
    readFile: async (path) => {
      reads += 1;
      return (options.readFile ?? ((each: string) => readFile(each, 'utf8')))(path);
    },
  });
  const looks = async (more: number) => {
    const enough = count + more * files.length;
    await until(() => count >= enough, 'the files are not checked');
  };
  await looks(2);
  return { ...watching, changes, troubles, looks, reads: () => reads };
}

t.test('a change in place is reported once', async (t) => {
  const file = join(t.testdir({ secret: 'one\n' }), 'secret');
  const { changes, troubles, looks } = await watch(t, [file]);
  t.same(changes, [], 'the first content is no change');
  writeFileSync(file, 'two\n');
  await until(() => changes.length > 0, 'no change is reported');
  await looks(5);
  t.same(changes, [[file, 'two\n']]);
  writeFileSync(file, 'three');
  await until(() => changes.length > 1, 'no change is reported');
  t.same(changes[1], [file, 'three']);
  t.same(troubles, []);
});

t.test('an unchanged file is not read at each check', async (t) => {
  const file = join(t.testdir({ secret: 'one' }), 'secret');
  const { changes, looks, reads } = await watch(t, [file]);
  await looks(10);
  t.ok(reads() <= 3, `the file was read ${reads()} times`);
  writeFileSync(file, 'two'); // The same length as before.
  await until(() => changes.length > 0, 'no change is reported');
  t.same(changes, [[file, 'two']]);
  await looks(3);
  const before = reads();
  await looks(10);
  t.equal(reads(), before, 'the file is no longer read at each check');
});

t.test(
  'a file of a network file system is read at each check, and a stat that would block is not made',
  async (t) => {
    const file = join(t.testdir({ secret: 'one' }), 'secret');
    const stamps = {
      isQuick: async () => false,
      of: () => {
        throw new Error('a stat would block the process');
      },
    };
    let reads = 0;
    const stop = new AbortController();
    t.teardown(() => stop.abort());
    watchSecretFiles({
      files: [file],
      intervalMs: 10,
      stamps,
      signal: stop.signal,
      onChange: () => t.fail('nothing has changed'),
      onTrouble: () => t.fail('no trouble is expected'),
      readFile: (path) => {
        reads += 1;
        return readFile(path, 'utf8');
      },
    });
    await until(() => reads > 5, 'the file is not read');
    stop.abort(); // The folder is removed before any teardown.
  },
);

t.test('a change by rename is reported', async (t) => {
  const dir = t.testdir({ secret: 'one' });
  const file = join(dir, 'secret');
  const { changes } = await watch(t, [file]);
  for (const content of ['two', 'three']) {
    writeFileSync(join(dir, 'new'), content);
    renameSync(join(dir, 'new'), file);
    await until(() => changes.at(-1)?.[1] === content, 'no change is reported');
  }
  t.same(
    changes.map(([, content]) => content),
    ['two', 'three'],
  );
});

t.test('a swap of ..data by Kubernetes is reported, twice in a row and for each file', async (t) => {
  const dir = t.testdir({ '..v1': { id: 'id 1', secret: 'secret 1' } });
  symlinkSync('..v1', join(dir, '..data'));
  const files = ['id', 'secret'].map((name) => {
    symlinkSync(join('..data', name), join(dir, name));
    return join(dir, name);
  });
  const { changes, troubles } = await watch(t, files);
  for (const version of [2, 3]) {
    mkdirSync(join(dir, `..v${version}`));
    for (const name of ['id', 'secret'])
      writeFileSync(join(dir, `..v${version}`, name), `${name} ${version}`);
    symlinkSync(`..v${version}`, join(dir, '..tmp'));
    renameSync(join(dir, '..tmp'), join(dir, '..data'));
    rmSync(join(dir, `..v${version - 1}`), { recursive: true });
    await until(() => changes.length === (version - 1) * 2, 'no change is reported');
    t.same(
      changes
        .slice(-2)
        .map(([, content]) => content)
        .sort(),
      [`id ${version}`, `secret ${version}`],
    );
  }
  t.same(troubles, []);
});

t.test(
  'a missing file is reported once as a trouble, and its return with another content as a change',
  async (t) => {
    const file = join(t.testdir({ secret: 'one' }), 'secret');
    const { changes, troubles, looks } = await watch(t, [file]);
    unlinkSync(file);
    await until(() => troubles.length > 0, 'no trouble is reported');
    await looks(5);
    t.same(troubles, [[file, 'no such file']]);
    writeFileSync(file, 'one');
    await looks(5);
    t.same(changes, [], 'the same content is no change');
    unlinkSync(file);
    await until(() => troubles.length > 1, 'no trouble is reported');
    writeFileSync(file, 'two');
    await until(() => changes.length > 0, 'no change is reported');
    t.same(changes, [[file, 'two']]);
  },
);

t.test('a pipe in place of a file is a trouble, and its writer is left alone', async (t) => {
  const file = join(t.testdir({ secret: 'one' }), 'secret');
  const { changes, troubles, looks } = await watch(t, [file], { readFile: plainFile });
  unlinkSync(file);
  t.equal(spawnSync('mkfifo', [file]).status, 0);
  const writer = spawn('sh', ['-c', 'echo two > "$0"', file]);
  t.teardown(() => writer.kill());
  await until(() => troubles.length > 0, 'no trouble is reported');
  await looks(5);
  t.same(troubles, [[file, 'it is a pipe or a device, and no file']]);
  t.equal(writer.exitCode, null, 'it waits for a reader');
  unlinkSync(file);
  writeFileSync(file, 'three');
  await until(() => changes.length > 0, 'no change is reported');
  t.same(changes, [[file, 'three']]);
});

t.test('an empty file is a trouble, and never a change', async (t) => {
  const file = join(t.testdir({ secret: 'one' }), 'secret');
  const { changes, troubles, looks } = await watch(t, [file]);
  for (const empty of ['', '\n', '\r\n']) {
    writeFileSync(file, empty);
    await looks(5);
  }
  t.same(troubles, [[file, 'it is empty']], 'one trouble: the file was not whole in between');
  t.same(changes, []);
});

t.test('a file that is empty while it is written is no trouble', async (t) => {
  const looks = ['one', '', 'two'];
  const { changes, troubles } = await watch(t, ['/virtual'], {
    readFile: async () => (looks.length > 1 ? looks.shift()! : looks[0]!),
  });
  await until(() => changes.length > 0, 'no change is reported');
  t.same(changes, [['/virtual', 'two']]);
  t.same(troubles, []);
});

t.test('a file that is still being written is not reported', async (t) => {
  let content = 'one';
  const { changes, looks } = await watch(t, ['/virtual'], { readFile: async () => content });
  let length = 0;
  const writing = setInterval(() => {
    length += 1;
    content = 'x'.repeat(length);
  }, 1);
  await looks(1);
  const growing = { readFile: async () => `${Math.random()}` };
  const other = await watch(t, ['/growing'], growing);
  await other.looks(20);
  t.same(other.changes, [], 'no two checks see the same content');
  clearInterval(writing);
  content = 'whole';
  await until(() => changes.at(-1)?.[1] === 'whole', 'no change is reported');
  await looks(3);
  t.equal(changes.filter(([, each]) => each === 'whole').length, 1);
});

t.test('a refused content is not reported again until it changes', async (t) => {
  const dir = t.testdir({ says: 'one', promises: 'one', rejects: 'one' });
  const refusals = {
    says: () => false,
    promises: () => Promise.resolve(false),
    rejects: () => Promise.reject(new Error('no')),
  };
  for (const [name, refuse] of Object.entries(refusals)) {
    const file = join(dir, name);
    const offered: string[] = [];
    const onChange = (_path: string, content: string) => {
      offered.push(content);
      return refuse();
    };
    const { looks } = await watch(t, [file], { onChange });
    writeFileSync(file, 'bad');
    await until(() => offered.length > 0, 'nothing is reported');
    await looks(5);
    t.same(offered, ['bad'], name);
    writeFileSync(file, 'good');
    await until(() => offered.length > 1, 'nothing is reported');
    t.same(offered, ['bad', 'good'], name);
  }
});

t.test('a change between the reading of the configuration and the first check is reported', async (t) => {
  const file = join(t.testdir({ secret: 'two' }), 'secret');
  const { changes } = await watch(t, [file], { known: new Map([[file, 'one']]) });
  await until(() => changes.length > 0, 'no change is reported');
  t.same(changes, [[file, 'two']]);
});

t.test('the list of files can be replaced', async (t) => {
  const dir = t.testdir({ a: '1', b: '1' });
  const [a, b] = [join(dir, 'a'), join(dir, 'b')];
  const { changes, update, looks } = await watch(t, [a]);
  update([b], new Map([[b, '1']]));
  writeFileSync(a, '2');
  writeFileSync(b, '2');
  await until(() => changes.length > 0, 'no change is reported');
  await looks(5);
  t.same(changes, [[b, '2']]);
});

t.test('a file whose reading hangs does not delay others, and is read once at a time', async (t) => {
  const file = join(t.testdir({ secret: 'one' }), 'secret');
  let hanging = 0;
  const changes: string[] = [];
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  watchSecretFiles({
    files: ['/hangs', file],
    intervalMs: 10,
    signal: stop.signal,
    known: new Map([[file, 'one']]),
    onChange: (_path, content) => changes.push(content) > 0,
    onTrouble: () => t.fail('no trouble is expected'),
    readFile: (path) => {
      if (path === file) return readFile(path, 'utf8');
      hanging += 1;
      return new Promise(() => {});
    },
  });
  writeFileSync(file, 'two');
  await until(() => changes.length > 0, 'no change is reported');
  // Before the folder is removed, which would be trouble.
  stop.abort();
  t.equal(hanging, 1);
  stop.abort(); // The folder is removed before any teardown.
});

t.test('changes are reported one at a time', async (t) => {
  const dir = t.testdir({ a: '1', b: '1' });
  let running = 0;
  let most = 0;
  let offers = 0;
  await watch(t, [join(dir, 'a'), join(dir, 'b')], {
    known: new Map([
      [join(dir, 'a'), '0'],
      [join(dir, 'b'), '0'],
    ]),
    onChange: async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(20);
      running -= 1;
      offers += 1;
      return true;
    },
  });
  await until(() => offers === 2, 'nothing is reported');
  t.equal(most, 1);
});

t.test('a listener that throws does not end the watch', async (t) => {
  const file = join(t.testdir({ secret: 'one' }), 'secret');
  let troubles = 0;
  const { changes, looks } = await watch(t, [file], {
    onTrouble: () => {
      troubles += 1;
      throw new Error('from the listener');
    },
  });
  unlinkSync(file);
  await until(() => troubles > 0, 'no trouble is reported');
  await looks(3);
  t.equal(troubles, 1);
  writeFileSync(file, 'two');
  await until(() => changes.length > 0, 'no change is reported');
});

t.test('the watch ends with its signal', async (t) => {
  const file = join(t.testdir({ secret: 'one' }), 'secret');
  let reads = 0;
  const start = (signal: AbortSignal) =>
    watchSecretFiles({
      files: [file],
      intervalMs: 5,
      signal,
      onChange: () => t.fail('a change is reported after the end'),
      onTrouble: () => t.fail('a trouble is reported after the end'),
      readFile: async (path) => {
        reads += 1;
        return readFile(path, 'utf8');
      },
    });
  const stop = new AbortController();
  start(stop.signal);
  await until(() => reads > 1, 'the file is not read');
  stop.abort();
  unlinkSync(file);
  const before = reads;
  await sleep(50);
  t.equal(reads, before);
  start(AbortSignal.abort());
  await sleep(20);
  t.equal(reads, before);
});
