import { chmodSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Test } from 'tap';
import type { MockApi } from '../../src/mock/mock-api.ts';
import { MAIN } from './cli.ts';

/** Where a reader of a page types: a folder with its files, a `bearerd` on the path, and the account of the mock. */
export function typedIn(t: Test, { url, credentials }: MockApi, files: Readonly<Record<string, string>>) {
  const cwd = t.testdir({
    ...files,
    bin: { bearerd: `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n` },
    client_secret: credentials.clientSecret,
  });
  chmodSync(join(cwd, 'bin', 'bearerd'), 0o755);
  const env = {
    PATH: [join(cwd, 'bin'), process.env.PATH].join(delimiter),
    NODE_NO_WARNINGS: '1',
    BEARERD_BASE_URL: url,
    BEARERD_CLIENT_ID: credentials.clientId,
    BEARERD_CLIENT_SECRET_FILE: 'client_secret',
  };
  return { cwd, env };
}
