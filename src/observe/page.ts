import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** The status page: its files for a browser, by name. */
interface StatusPage {
  readonly files: ReadonlyMap<string, { readonly type: string; readonly text: string }>;
  readonly contentSecurityPolicy: string;
}

/** The folder beside this file; the build copies it beside the bundle. */
const FOLDER = new URL('page/', import.meta.url);

/** Other files in the folder are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Only files of this origin, and nothing inline: no foreign script or style can run. */
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

/** Read at the first view. The page holds no data of this process: it requests them. */
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
