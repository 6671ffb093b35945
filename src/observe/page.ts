import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The page for people, with what a browser may load and run for it. */
export interface StatusPage {
  readonly html: string;
  readonly icon: string;
  readonly contentSecurityPolicy: string;
}

let made: StatusPage | undefined;

/** Made when somebody looks for the first time. It holds nothing of this process: it asks for that itself. */
export function statusPage(): StatusPage {
  made ??= make();
  return made;
}

function make(): StatusPage {
  const style = file('page.css');
  const script = file('page.js');
  return {
    html: file('page.html')
      .replace('<style></style>', () => `<style>${style}</style>`)
      .replace('<script></script>', () => `<script type="module">${script}</script>`),
    icon: file('icon.svg'),
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src ${hash(script)}`,
      `style-src ${hash(style)}`,
      "connect-src 'self'",
      "img-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
  };
}

/** Beside this file; the build puts them beside the bundle. */
function file(name: string): string {
  return readFileSync(new URL(`page/${name}`, import.meta.url), 'utf8');
}

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
