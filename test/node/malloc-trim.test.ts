import { spawnSync } from 'node:child_process';
import { isBuiltin } from 'node:module';
import t from 'tap';
import { releaseMemory } from '../../src/node/heap.ts';
import { keepsFreePages } from '../support/memory.ts';
import { residentMib } from '../support/processes.ts';
import { until } from '../support/raw-client.ts';

const BLOCK_BYTES = 10_000; // The size of an HTTP parser of Node.
const BLOCKS = 4_000;
const MODULE = new URL('../../src/node/malloc-trim.ts', import.meta.url).href;

const anonymousBytes = () => residentMib(process.pid, 'RssAnon') * 2 ** 20;

t.test(
  'free pages of the C library below a block in use are given back, without a warning',
  { skip: keepsFreePages() },
  async (t) => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    t.teardown(() => process.off('warning', warned));
    const blocks = Array.from({ length: BLOCKS }, () => Buffer.alloc(BLOCK_BYTES, 1));
    const last = blocks.at(-1)!;
    blocks.length = 0;
    const before = anonymousBytes();
    releaseMemory();
    const isGivenBack = () => before - anonymousBytes() >= 0.8 * BLOCK_BYTES * BLOCKS;
    await until(isGivenBack, 'not given back').catch(() => {});
    t.equal(last[0], 1);
    t.ok(isGivenBack(), `${before} bytes became ${anonymousBytes()}`);
    t.same(warnings, []);
  },
);

t.test('without node:ffi nothing is given back, and nothing is printed', async (t) => {
  const program = `import { trimMalloc } from ${JSON.stringify(MODULE)}; trimMalloc(); trimMalloc();`;
  const args = [
    ...(isBuiltin('node:ffi') ? ['--no-experimental-ffi'] : []),
    '--input-type=module',
    '--eval',
    program,
  ];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: {} });
  t.same([status, stderr], [0, '']);
});
