import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { MAIN } from '../support/cli.ts';
import { saidBy } from '../support/internal-errors.ts';
import { until } from '../support/raw-client.ts';

// Counts how often an idle process wakes up: a thread that goes to sleep was awake before. A busy machine adds nothing
// to this count.

const WINDOW_MS = 6_000;
/** Promised: at most 3 a second. Measured: 0.5. */
const MOST = 9;
/** The timers of the start and of the first login end within these windows. */
const WINDOWS = 6;

/** How often threads of a process have gone to sleep since the start. */
function sleeps(pid: number): number {
  let count = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    count += Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1] ?? 0);
  }
  return count;
}

/** Whether a window stays within the limit, and the counts of all windows. */
async function becomesQuiet(pid: number): Promise<[isQuiet: boolean, counts: string]> {
  const counts: number[] = [];
  while (counts.length < WINDOWS) {
    const before = sleeps(pid);
    await sleep(WINDOW_MS);
    const count = sleeps(pid) - before;
    counts.push(count);
    if (count <= MOST) return [true, `in ${WINDOW_MS / 1_000} s each: ${counts.join(', ')}`];
  }
  return [false, `in ${WINDOW_MS / 1_000} s each: ${counts.join(', ')}`];
}

async function sessionUrl(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    request.resume().on('end', () => response.end(JSON.stringify({ accessToken: 'tok-1', expiresAt })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test(
  'a ready process that watches three files wakes up at most three times in two seconds, before a request and after it',
  { skip: process.platform !== 'linux' && 'only Linux counts it' },
  async (t) => {
    const dir = t.testdir({ id: 'id', secret: 'client-secret', key: 'api-key' });
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [MAIN, 'start'], {
      env: {
        PATH,
        HOME,
        BEARERD_BASE_URL: await sessionUrl(t),
        BEARERD_CLIENT_ID_FILE: join(dir, 'id'),
        BEARERD_CLIENT_SECRET_FILE: join(dir, 'secret'),
        BEARERD_API_KEY_FILE: join(dir, 'key'),
        BEARERD_LISTEN: 'localhost:0',
        BEARERD_ADMIN_LISTEN: 'localhost:0',
      },
      cwd: dir,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = saidBy(t, child);
    await until(() => said().includes('logged in'), 'no login');
    t.ok(...(await becomesQuiet(child.pid!)));
    const [proxy, admin] = said().matchAll(/http:\/\/localhost:\d+/g);
    for (const url of [`${proxy}/x`, `${admin}/metrics`]) {
      const { status } = await fetch(url, { headers: { connection: 'close' } });
      t.equal(status, 200);
    }
    t.ok(...(await becomesQuiet(child.pid!)));
  },
);
