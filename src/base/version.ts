import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(findPackageJSON(import.meta.url)!, 'utf8'),
);

/** From the nearest package.json above this file, which is the same for `src/base` and `dist`. */
export const VERSION = version;

/** The `User-Agent` of bearerd's own requests (RFC 9110 §10.1.5): some gateways refuse requests without one. */
export const USER_AGENT = `bearerd/${VERSION}`;
