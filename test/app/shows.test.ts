import { unlinkSync, utimesSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { StatusFeed } from '../../src/listen/status-feed.ts';
import { gatewayFor, request } from '../support/gateway.ts';
import { ask, PATIENCE_MS, RawClient, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// What the admin listener shows people: the status and its changes, and the last requests.

const upstream = await RawUpstream.startedFor(t);
t.beforeEach(() => upstream.reset());

function shownFor(t: Test, more: { yaml?: string; loggedIn?: boolean } = {}) {
  return gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' }, ...more });
}

interface Status {
  readonly draining: boolean;
  readonly requestsAnswered: number;
  readonly requestsInFlight: number;
  readonly tunnels: number;
  readonly requestsWaiting: number;
  readonly credentials: Record<
    string,
    { state: string; lastLogins: { result: string; message: string | null }[] }
  >;
  readonly routes: { prefix: string; latencyMs: { p50: number; p95: number } | null }[];
}

/** A client that follows the status by server-sent events. */
async function follow(port: number) {
  const client = await RawClient.to(port);
  client.send(request('GET', '/events', 'accept: text/event-stream'));
  const events = () =>
    [...client.received.matchAll(/^event: status\ndata: (.*)\n\n/gm)].map(
      ([, json]) => JSON.parse(json!) as Status,
    );
  const sees = (what: string, wanted: (status: Status) => boolean) =>
    until(() => events().some(wanted), `the status does not show ${what}`);
  return { client, events, sees };
}

const admin = (port: number, path: string) => ask(port, request('GET', path));

t.test('status events come at once, at every change, and otherwise every two seconds', async (t) => {
  const proxy = await shownFor(t);
  const { client, events, sees } = await follow(proxy.adminPort);
  await until(() => events().length > 0, 'no first status event');
  t.match(
    client.received,
    /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\ncache-control: no-store\r\n/,
  );
  t.match(events()[0], {
    draining: false,
    requestsAnswered: 0,
    credentials: { token: { state: 'fresh' } },
  });
  await proxy.get('/');
  await sees('the request', ({ requestsAnswered }) => requestsAnswered === 1);
  upstream.onLogin = () => head('401 Unauthorized', 'content-length: 0');
  await ask(proxy.adminPort, request('POST', '/renew', 'content-length: 0'));
  await sees('the failed login', ({ credentials }) => credentials.token?.state === 'degraded');
  const count = events().length;
  await until(() => events().length > count, 'no status event without a change');
  t.match(events().at(-1)?.credentials.token?.lastLogins, [
    { result: 'refused' },
    { result: 'ok', message: null },
  ]);
  client.close();
  t.same(proxy.internalErrors(), []);
});

t.test('a stop is shown in the status, and ends the events', async (t) => {
  const proxy = await shownFor(t);
  const answer = Promise.withResolvers<Buffer>();
  upstream.onRequest = () => answer.promise;
  const underWay = proxy.get('/');
  const { client, events, sees } = await follow(proxy.adminPort);
  await sees('the request under way', ({ requestsInFlight }) => requestsInFlight === 1);
  const drained = proxy.gateway.drain(PATIENCE_MS, 'SIGTERM');
  t.equal(await client.end(), 'end');
  t.equal(events().at(-1)?.draining, true);
  const late = await admin(proxy.adminPort, '/events');
  t.equal(late.status, 503);
  t.equal(JSON.parse(late.text).code, 'draining');
  answer.resolve(ok('late'));
  t.equal((await underWay).status, 200);
  t.equal(await drained, 0);
  t.same(proxy.internalErrors(), []);
});

t.test('16 clients may follow the status, and another one only after one has left', async (t) => {
  const proxy = await shownFor(t);
  const followers: Awaited<ReturnType<typeof follow>>[] = [];
  for (let n = 0; n < 16; n++) followers.push(await follow(proxy.adminPort));
  await until(() => followers.every(({ events }) => events().length > 0), 'not all clients are served');
  const refused = await admin(proxy.adminPort, '/events');
  t.equal(refused.status, 503);
  t.equal(JSON.parse(refused.text).code, 'overloaded');
  followers.pop()?.client.close();
  const served = async () => {
    const one = await follow(proxy.adminPort);
    await until(() => one.client.received !== '', 'no answer');
    if (one.client.received.startsWith('HTTP/1.1 200')) return one;
    one.client.close();
  };
  const next = (await until(served, 'no slot becomes free'))!;
  await next.sees('anything', () => true);
  for (const { client } of [...followers, next]) client.close();
});

t.test('only GET may ask for events', async (t) => {
  const proxy = await shownFor(t);
  const answer = await ask(proxy.adminPort, request('HEAD', '/events'));
  t.equal(answer.status, 405);
  t.equal(answer.header('allow'), 'GET');
});

/** A status feed on a server of its own. */
async function feedFor(t: Test, status: () => unknown, stallLimitMs: number) {
  const feed = new StatusFeed({ status, intervalMs: 20, stallLimitMs });
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    responses.push(response);
    feed.open(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { feed, responses, port: (server.address() as AddressInfo).port };
}

t.test(
  'for a client that reads nothing one status is kept, and the client is cut off after a while',
  async (t) => {
    const text = 'x'.repeat(4_000_000);
    const { responses, port } = await feedFor(t, () => text, 300);
    const slow = connect({ port, host: '127.0.0.1' });
    slow.on('error', () => {});
    t.teardown(() => slow.destroy());
    slow.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    slow.pause();
    await until(() => responses[0]?.writableNeedDrain === true, 'the client is not blocked');
    t.ok(responses[0]!.writableLength < 10_000_000, 'the kept bytes are bounded');
    await until(() => responses[0]!.destroyed, 'the client is not cut off');
  },
);

t.test('without a client no status is built', async (t) => {
  let asked = 0;
  const { feed, responses, port } = await feedFor(t, () => ++asked, 1_000);
  feed.changed();
  await sleep(300);
  t.equal(asked, 0);
  const client = await RawClient.to(port);
  client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await until(() => asked > 2, 'the client gets no status');
  client.close();
  await until(() => responses[0]?.closed, 'the end of the client is not noticed');
  const before = asked;
  feed.changed();
  await sleep(300);
  t.equal(asked, before);
});

t.test('the last 200 requests are shown without queries, the newest first', async (t) => {
  const proxy = await shownFor(t);
  const list = async () => JSON.parse((await admin(proxy.adminPort, '/requests')).text);
  t.same(await list(), []);
  await proxy.get('/first?key=hidden');
  await proxy.get('/a%2f../b?key=hidden');
  const shown = await list();
  t.notMatch(JSON.stringify(shown), /hidden|\?/);
  t.match(shown, [
    { method: 'GET', path: '/a%2f../b', route: '', credential: '', status: 400, code: 'bad-path' },
    { method: 'GET', path: '/first', route: '/', credential: 'token', caller: '', status: 200, code: null },
  ]);
  t.match(shown[0].time, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  t.ok(Math.abs(Date.now() - Date.parse(shown[0].time)) < 60_000);
  t.type(shown[0].durationMs, 'number');
  const client = await proxy.client();
  for (let n = 0; n < 205; n++) {
    client.send(request('GET', `/n/${n}`));
    await client.response();
  }
  client.close();
  const last = (await list()) as { path: string }[];
  t.equal(last.length, 200);
  t.equal(last[0]?.path, '/n/204');
  t.equal(last[199]?.path, '/n/5');
  const status = JSON.parse((await admin(proxy.adminPort, '/status')).text) as Status;
  t.equal(status.requestsAnswered, 207);
  const [{ latencyMs } = { latencyMs: null }] = status.routes;
  t.ok(latencyMs !== null && latencyMs.p50 > 0 && latencyMs.p50 <= latencyMs.p95);
});

const metric = async (port: number, name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await admin(port, '/metrics')).text)?.[1]);

t.test('open tunnels and requests that wait for a token are counted', async (t) => {
  upstream.onLogin = () => undefined;
  const proxy = await shownFor(t, {
    loggedIn: false,
    yaml: 'routes: [{ prefix: /, credential: token }, { prefix: /none, credential: none }]\n',
  });
  const { client: looker, sees } = await follow(proxy.adminPort);
  const waiting = await proxy.client();
  waiting.send(request('GET', '/'));
  await sees('a request that waits', ({ requestsWaiting }) => requestsWaiting === 1);
  t.equal(await metric(proxy.adminPort, 'bearerd_waiting_requests'), 1);
  waiting.close();
  upstream.onRequest = () => head('101 Switching Protocols', 'connection: upgrade', 'upgrade: x');
  const tunnel = await proxy.client();
  tunnel.send(request('GET', '/none', 'connection: upgrade', 'upgrade: x'));
  await sees('a tunnel', ({ tunnels }) => tunnels === 1);
  t.equal(await metric(proxy.adminPort, 'bearerd_tunnels_open'), 1);
  tunnel.close();
  await sees('the end of both', ({ tunnels, requestsAnswered }) => tunnels === 0 && requestsAnswered === 2);
  t.equal(await metric(proxy.adminPort, 'bearerd_tunnels_open'), 0);
  t.equal(await metric(proxy.adminPort, 'bearerd_waiting_requests'), 0);
  looker.close();
  t.same(proxy.internalErrors(), []);
});

t.test('the count of failed logins begins with 0, so that the first failure is an increase', async (t) => {
  const proxy = await shownFor(t);
  const refused = () =>
    metric(proxy.adminPort, 'bearerd_logins_total\\{credential="token",result="refused"\\}');
  t.equal(await refused(), 0);
  upstream.onLogin = () => head('401 Unauthorized', 'content-length: 0');
  await ask(proxy.adminPort, request('POST', '/renew', 'content-length: 0'));
  t.equal(await refused(), 1);
});

t.test("the metric of a secret file's change has the configured path", async (t) => {
  const folder = t.testdir({ secret: 'client-secret' });
  const changed = new Date('2026-03-04T05:06:07Z');
  utimesSync(join(folder, 'secret'), changed, changed);
  const { adminPort: port } = await gatewayFor(t, {
    baseUrl: upstream.url,
    folder,
    env: {
      BEARERD_CLIENT_SECRET: undefined,
      BEARERD_CLIENT_SECRET_FILE: './secret',
      BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
    },
  });
  const name = 'bearerd_secret_file_mtime_timestamp_seconds\\{path="\\./secret"\\}';
  t.equal(await metric(port, name), changed.getTime() / 1000);
  unlinkSync(join(folder, 'secret'));
  t.ok(Number.isNaN(await metric(port, name)), 'the series is absent while the file does not exist');
});

t.test("only files of the page's folder are served, and only those for a browser", async (t) => {
  const proxy = await shownFor(t);
  const page = await admin(proxy.adminPort, '/');
  t.match(
    page.header('content-security-policy'),
    /^default-src 'none'; script-src 'self'; style-src 'self';/,
  );
  t.notMatch(page.header('content-security-policy'), 'unsafe');
  t.notMatch(page.text, /<style|<script(?! type="module" src="page\/)|\bon\w+=|\bstyle=|https?:/);
  for (const [, path = ''] of page.text.matchAll(/(?:src|href)="(page\/[^"]+)"/g)) {
    const part = await admin(proxy.adminPort, `/${path}`);
    t.equal(part.status, 200, path);
    t.equal(part.header('x-content-type-options'), 'nosniff');
  }
  for (const path of [
    '/page/',
    '/page/tsconfig.json',
    '/page/../page.ts',
    '/page/..%2fpage.ts',
    '/page/%2e%2e/log.ts',
  ]) {
    t.not((await admin(proxy.adminPort, path)).status, 200, path);
  }
  t.equal((await ask(proxy.adminPort, request('POST', '/page/main.js', 'content-length: 0'))).status, 405);
  t.same(proxy.internalErrors(), []);
});

t.test('the configuration is shown in the form of the file, without secrets', async (t) => {
  const proxy = await shownFor(t);
  const { files, yaml } = JSON.parse((await admin(proxy.adminPort, '/configuration')).text);
  t.same(files, []);
  t.match(yaml, `baseUrl: ${upstream.url} # BEARERD_BASE_URL\n`);
  t.match(yaml, /clientSecret: "\*\*\*"/);
  t.notMatch(yaml, 'client-secret');
});

t.test('the configuration names each place outside bearerd that holds a credential', async (t) => {
  const sinks = [
    { haproxy: `unix:/nowhere/haproxy.sock`, map: '/tokens.map' },
    { envoySds: `/nowhere/sds.yaml`, name: 'bearer' },
    { file: `/nowhere/token` },
  ];
  const env = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0', BEARERD_SHARE_URL: `unix:/nowhere/redis.sock` };
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env, yaml: JSON.stringify({ sinks }) });
  const { yaml } = JSON.parse((await admin(proxy.adminPort, '/configuration')).text);
  t.match(yaml, '# the engine that share.url names holds access tokens, sealed\n');
  t.match(yaml, `# the HAProxy at /nowhere/haproxy.sock holds token\n`);
  t.match(yaml, `# the file for Envoy /nowhere/sds.yaml holds token\n`);
  t.match(yaml, `# the file /nowhere/token holds token\n`);
  t.same(JSON.parse((await admin(proxy.adminPort, '/status')).text).share.state, 'gone');
});
