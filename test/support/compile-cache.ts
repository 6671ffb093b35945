import { enableCompileCache } from 'node:module';
import { CACHE_FOLDER, COUNTS_LINES } from './compiled.ts';

/**
 * What Node has made of the sources for one test file serves the next: half of what an import of them costs. tap loads
 * this first in each. V8 counts less exactly in what comes from there, so it is left out where coverage is wanted.
 */
if (!COUNTS_LINES) enableCompileCache(CACHE_FOLDER);
