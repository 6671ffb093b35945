import { readFileSync } from 'node:fs';

/** From package.json, which stands one folder up from here both in `src` and in `dist`. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
