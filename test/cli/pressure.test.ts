import { spawn } from 'node:child_process';
import t, { type Test } from 'tap';
import { COMPILED, MAIN } from '../support/cli.ts';
import { request } from '../support/gateway.ts';
import { saidBy } from '../support/internal-errors.ts';
import { ask, RawClient, until } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

/** A proxy that may open this many files; gives its ports and its output. */
async function limited(t: Test, openFiles: number, baseUrl: string) {
  const child = spawn('sh', ['-c', `ulimit -n ${openFiles}; exec "$NODE" "$MAIN" start`], {
    env: {
      PATH: process.env.PATH,
      NODE: process.execPath,
      ...COMPILED,
      MAIN,
      BEARERD_BASE_URL: baseUrl,
      BEARERD_API_KEY: 'key',
      BEARERD_LISTEN: '127.0.0.1:0',
      BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const log = saidBy(t, child);
  await until(() => /listening on/.test(log()), 'the proxy does not listen');
  const { urls, admin } = JSON.parse(log().split('\n')[0]!) as { urls: string[]; admin: string[] };
  const portOf = (url: string) => Number(new URL(url).port);
  return { port: portOf(urls[0]!), adminPort: portOf(admin[0]!), log };
}

t.test('at the limit of open files further clients get 503, and the admin listener answers', async (t) => {
  t.testdir({});
  const upstream = await RawUpstream.startedFor(t);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  upstream.onRequest = async () => {
    await held;
    return ok('served');
  };
  const proxy = await limited(t, 128, upstream.url);
  await until(
    () => /client connections are limited/.test(proxy.log()),
    'the log does not say that connections are limited',
  );
  t.match(proxy.log(), /"maxConnections":24,"configured":10000,.*client connections are limited to 24/);
  const clients = await Promise.all(Array.from({ length: 200 }, () => RawClient.to(proxy.port)));
  const answers = clients.map((client) => client.send(request('GET', '/')).response());
  await until(() => upstream.requests.length === 24, 'the limit of requests under way is not reached');
  t.equal((await ask(proxy.adminPort, request('GET', '/healthz'))).status, 200);
  letGo();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 200).length, 24);
  t.equal(statuses.filter((status) => status === 503).length, 176);
  for (const client of clients) client.close();
  const next = async () => (await ask(proxy.port, request('GET', '/next'))).status;
  await until(async () => (await next()) === 200, 'a client is not served after the others have left');
});

t.test('a client that sends a thousand requests and reads nothing does not starve others', async (t) => {
  t.testdir({});
  const upstream = await RawUpstream.startedFor(t);
  upstream.onRequest = () => ok('x'.repeat(50_000));
  const proxy = await limited(t, 1024, upstream.url);
  const greedy = await RawClient.to(proxy.port, { keep: false });
  t.teardown(() => greedy.close());
  greedy.socket.pause();
  greedy.send(request('GET', '/greedy').repeat(1_000));
  for (let n = 0; n < 20; n++) t.equal((await ask(proxy.port, request('GET', '/other'))).status, 200);
  t.ok(
    upstream.requests.filter(({ target }) => target === '/greedy').length < 1_000,
    'this client is slowed down',
  );
});
