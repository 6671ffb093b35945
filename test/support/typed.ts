import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Test } from 'tap';
import type { MockApi } from '../../src/mock/mock-api.ts';
import { MAIN } from './cli.ts';

/** Where a reader of a page types: a folder with its files, a `bearerd` on the path, and the account of the mock. */
export function typedIn(t: Test, { url, credentials }: MockApi, files: Readonly<Record<string, string>>) {
  const cwd = t.testdir({
    ...files,
    bin: {},
    client_secret: credentials.clientSecret,
  });
  program(cwd, 'bearerd', `exec '${process.execPath}' '${MAIN}' "$@"`);
  const env = {
    PATH: [join(cwd, 'bin'), process.env.PATH].join(delimiter),
    NODE_NO_WARNINGS: '1',
    BEARERD_BASE_URL: url,
    BEARERD_CLIENT_ID: credentials.clientId,
    BEARERD_CLIENT_SECRET_FILE: 'client_secret',
  };
  return { cwd, env };
}

/** Puts a program of that name on the path of the folder. @param script for sh */
export function program(cwd: string, name: string, script: string): void {
  writeFileSync(join(cwd, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** The first block of a page in this language. */
export function blockOf(page: string, language: string): string {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';
}
