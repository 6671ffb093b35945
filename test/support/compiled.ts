import { fileURLToPath } from 'node:url';

/** What Node has made of the sources and of the bundle, for all that the tests start. */
export const CACHE_FOLDER: string = fileURLToPath(
  new URL('../../node_modules/.cache/bearerd-tests', import.meta.url),
);

/** tap counts which lines the tests cover. */
export const COUNTS_LINES: boolean = process.env._TAPJS_PROCESSINFO_COVERAGE_ !== '0';
