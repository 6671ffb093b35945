import { spawnSync } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, launch, scratch } from '../children.ts';
import type { Origin } from '../upstream/upstream.ts';
import type { Contender, Launched } from './contender.ts';

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
/** As the image and the systemd unit start it. */
export const NODE_FLAGS = ['--max-semi-space-size=8'];
export const NODE_ENV = { MALLOC_ARENA_MAX: '1' };
let pipes = 0;

/** As shipped: `dist/`, metrics on, and a log line for each request, into a pipe with a reader. */
export const bearerd: Contender = {
  name: 'bearerd',
  version,
  warmsUp: true,
  overTls: true,
  launch: async (port, origin) => launchBearerd(port, await freePort(), origin),
};

/** The same, looking in each answer for the token. */
export const scrubbingBearerd: Contender = {
  ...bearerd,
  name: 'bearerd with scrub',
  launch: async (port, origin) => launchBearerd(port, await freePort(), origin, { BEARERD_SCRUB: 'true' }),
};

export function launchBearerd(
  port: number,
  adminPort: number,
  { host, port: upstream, caFile }: Origin,
  env: Readonly<Record<string, string>> = {},
): Launched {
  const { log, reader } = readPipe();
  const child = launch(process.execPath, [...NODE_FLAGS, MAIN, 'start'], {
    env: {
      ...NODE_ENV,
      BEARERD_BASE_URL: `${caFile === undefined ? 'http' : 'https'}://${host}:${upstream}`,
      BEARERD_CLIENT_ID: 'bench',
      BEARERD_CLIENT_SECRET: 'bench',
      BEARERD_LISTEN: `127.0.0.1:${port}`,
      BEARERD_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
      ...(caFile && { BEARERD_TLS_CA_FILE: caFile }),
      ...env,
    },
    stdio: ['ignore', log, 'inherit'],
  });
  return { child, helpers: [reader] };
}

/** A pipe of the kernel's, as a container runtime gives; Node's own would be a socket. */
function readPipe() {
  const path = join(scratch, `log-${pipes++}`);
  spawnSync('mkfifo', [path]);
  const reader = launch('sh', ['-c', 'exec cat "$0" >/dev/null', path]);
  return { log: openSync(path, 'w'), reader };
}
