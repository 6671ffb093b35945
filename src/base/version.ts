import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** Of the nearest package.json above this file: the same one from `src/base` and from `dist`. */
export const VERSION: string = (
  JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')) as { version: string }
).version;

/** What every request of our own names itself (RFC 9110 §10.1.5): some gateways refuse requests without it. */
export const USER_AGENT = `bearerd/${VERSION}`;
