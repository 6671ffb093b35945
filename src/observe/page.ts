import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** The page for people: what a browser is given, by name. */
export interface StatusPage {
  readonly files: ReadonlyMap<string, { readonly type: string; readonly text: string }>;
  readonly contentSecurityPolicy: string;
}

/** Beside this file; the build puts them beside the bundle. */
const FOLDER = new URL('page/', import.meta.url);

/** The others in the folder are for us. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Only what lies here, and nothing that stands in a page: no foreign script or style can run. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

let read: StatusPage | undefined;

/** Read at the first view. It holds nothing of this process: it asks for that itself. */
export function statusPage(): StatusPage {
  read ??= { files: readFiles(), contentSecurityPolicy: POLICY };
  return read;
}

function readFiles(): StatusPage['files'] {
  const files = new Map<string, { type: string; text: string }>();
  for (const name of readdirSync(FOLDER)) {
    const type = TYPES[extname(name)];
    if (type !== undefined) files.set(name, { type, text: readFileSync(new URL(name, FOLDER), 'utf8') });
  }
  return files;
}
