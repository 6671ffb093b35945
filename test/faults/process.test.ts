import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { start } from '../support/cli.ts';
import { request } from '../support/gateway.ts';
import { isRunning } from '../support/processes.ts';
import { ask, PATIENCE_MS, RawClient, until, within } from '../support/raw-client.ts';
import { grant, ok, RawUpstream } from '../support/raw-upstream.ts';
import { share } from '../support/share.ts';

// Faults that hit the process as a whole.

async function serve(t: Test, upstream: RawUpstream, env: NodeJS.ProcessEnv = {}) {
  t.testdir({});
  const running = start(t, ['start'], {
    BEARERD_BASE_URL: upstream.url,
    BEARERD_CLIENT_ID: 'sa',
    BEARERD_CLIENT_SECRET: 'secret',
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
    BEARERD_LOG_FORMAT: 'json',
    ...env,
  });
  const [, port] = await running.until(/"urls":\["http:\/\/127\.0\.0\.1:(\d+)/);
  await running.until(/logged in/);
  return { ...running, port: Number(port) };
}

t.test(
  'a process that was stopped sends no token that has ended meanwhile, and does not storm',
  async (t) => {
    const LIFE_MS = 3_000;
    const upstream = await RawUpstream.startedFor(t);
    const endsMs = new Map<string, number>();
    upstream.onLogin = (login) => {
      endsMs.set(`Bearer tok-${login}`, performance.now() + LIFE_MS);
      return grant(`tok-${login}`, LIFE_MS / 1_000);
    };
    let expired = 0;
    upstream.onRequest = ({ header }) => {
      if (performance.now() > (endsMs.get(header('authorization') ?? '') ?? 0)) expired++;
      return ok('served');
    };
    const { child, port } = await serve(t, upstream);
    const get = async () => (await ask(port, request('GET', '/x'))).status;
    const before = upstream.logins;
    const begun = performance.now();
    const asked = upstream.connections.length;
    for (let round = 0; round < 2; round++) {
      child.kill('SIGSTOP');
      const waiting = Array.from({ length: 20 }, get);
      await sleep(LIFE_MS + 500);
      child.kill('SIGCONT');
      for (const status of await Promise.all(waiting)) t.equal(status, 200);
      await sleep(200);
    }
    t.equal(expired, 0, 'none with a token that had ended');
    const spans = (performance.now() - begun) / (LIFE_MS / 2);
    t.ok(upstream.logins - before <= 1 + spans, `${upstream.logins - before} logins in ${spans} half lives`);
    t.ok(upstream.connections.length - asked <= 50, `${upstream.connections.length - asked} connections`);
  },
);

/** New connections wait in the kernel until they are accepted; this many can, unless the machine allows fewer. */
const SMALL = readBacklog() < 1_000 && 'this machine lets fewer wait';

function readBacklog(): number {
  if (process.platform !== 'linux') return 0;
  return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
}

t.test(
  'a process that is held up keeps 1,000 clients waiting, and turns none away',
  { skip: SMALL },
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const path = join(tmpdir(), `bearerd-${randomUUID()}.sock`); // A test's own folder has too long a name.
    t.teardown(() => rmSync(path, { force: true }));
    const { child, port } = await serve(t, upstream, { BEARERD_LISTEN: `127.0.0.1:0,unix:${path}` });
    for (const where of [port, path]) {
      child.kill('SIGSTOP');
      const coming = Promise.all(Array.from({ length: 1_000 }, () => RawClient.to(where, { keep: false })));
      const clients = await within(PATIENCE_MS, coming, () => `not everybody is let in at ${where}`).finally(
        () => child.kill('SIGCONT'),
      );
      const answers = clients.map((client) => client.send(request('GET', '/x')).response());
      for (const { status } of await Promise.all(answers)) if (status !== 200) t.fail(`${where}: ${status}`);
      t.equal(clients.length, 1_000);
      for (const client of clients) client.close();
    }
  },
);

t.test('with a heap of 64 MiB it serves, or says that it does not, and lives on', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const body = Buffer.alloc(1 << 20, 'x');
  upstream.onRequest = () => ok(body);
  const { child, port, output } = await serve(t, upstream, {
    NODE_OPTIONS: '--max-old-space-size=64',
  });
  const statuses = new Set<number>();
  const readers = await Promise.all(Array.from({ length: 100 }, () => RawClient.to(port, { keep: false })));
  for (const reader of readers) {
    reader.socket.pause(); // Held up, with as much as it can be made to hold.
    reader.send(request('GET', '/held'));
  }
  const limit = performance.now() + share(3_000);
  const isOver = () =>
    performance.now() > limit && (statuses.has(200) || performance.now() > limit + PATIENCE_MS);
  const worker = async () => {
    while (!isOver()) {
      const client = await RawClient.to(port, { keep: false });
      client.send(request('POST', '/x', `content-length: ${body.length}`)).send(body);
      statuses.add((await client.response()).status);
      client.close();
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  t.ok(isRunning(child.pid!), `it lives: ${output().slice(-300)}`);
  t.ok(statuses.has(200));
  for (const status of statuses) t.ok(status === 200 || status === 503, `${status}`);
  for (const reader of readers) reader.close();
  await until(async () => (await ask(port, request('GET', '/x'))).status === 200, 'it does not serve');
});
