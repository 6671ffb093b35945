import { readFileSync } from 'node:fs';

/** From package.json, which stands one folder up from here both in `src` and in `dist`. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** What every request of our own names itself (RFC 9110 §10.1.5): gateways refuse those that name nobody. */
export const USER_AGENT = `bearerd/${VERSION}`;
