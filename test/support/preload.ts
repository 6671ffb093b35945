import { enableCompileCache } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { CACHE_FOLDER, COUNTS_LINES } from './compiled.ts';

// tap loads this first in each test file.

if (!COUNTS_LINES) {
  // What Node has made of the sources for one test file serves the next: half of what an import of them costs. V8 counts
  // less exactly in what comes from there, so it is left out where coverage is wanted. `npm test` has named the folder before,
  // for tap's own files; processes that a test starts are told by `COMPILED`.
  enableCompileCache(CACHE_FOLDER);
  // tap asks Node for source maps. What Node runs has the lines of its source.
  process.setSourceMapsEnabled(false);
  // By these tap puts hooks into each process that a test starts, which count lines and cost a tenth of a second.
  const onSpawn = Reflect.get(globalThis, Symbol.for('process-on-spawn@*:singletonId'));
  (onSpawn as { listeners: unknown[] } | undefined)?.listeners.splice(0);
}
delete process.env.NODE_COMPILE_CACHE;
// Not in a worker or a process of a test, where tap would mix its own output into what the test reads.
if (isMainThread && process.argv[1]?.endsWith('.test.ts')) await import('./folder-last.ts');
