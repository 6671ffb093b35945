import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * What Node has made of the sources for one test file serves the next: half of what an import of them costs. tap loads
 * this first in each. V8 counts less exactly in what comes from there, so it is left out where coverage is wanted.
 */
if (process.env._TAPJS_PROCESSINFO_COVERAGE_ === '0')
  enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/bearerd-tests', import.meta.url)));
