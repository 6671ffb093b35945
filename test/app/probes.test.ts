import t, { type Test } from 'tap';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { ask } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// The listener of BEARERD_PROBES_LISTEN answers only probes, on any address.

const upstream = await RawUpstream.startedFor(t);
t.beforeEach(() => upstream.reset());

const env = (listen: string) => ({
  BEARERD_PROBES_LISTEN: listen,
  BEARERD_CALLER_KEY: 'caller-key-0123456789',
});

async function probedFor(t: Test, listen: string, loggedIn = true) {
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: env(listen), loggedIn });
  const port = Number(new URL(proxy.gateway.probeUrls[0]!).port);
  const probe = (method: string, target: string, ...lines: string[]) =>
    ask(port, request(method, target, ...lines), method);
  return { ...proxy, port, probe };
}

t.test('on loopback a probe gets the answer of the admin listener, whatever the Host', async (t) => {
  const { port, probe } = await probedFor(t, '127.0.0.1:0');
  const health = await probe('GET', '/healthz?verbose');
  t.match([health.status, health.text], [200, 'ok\n']);
  const ready = await ask(port, 'GET /readyz HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n');
  t.equal(ready.status, 200);
  t.match(JSON.parse(ready.text), { ready: true, credentials: { token: { state: 'fresh' } } });
  const old = await ask(port, 'GET /readyz HTTP/1.0\r\n\r\n');
  t.equal(old.status, 200, 'a probe needs no Host');
  const headOnly = await probe('HEAD', '/readyz');
  t.match([headOnly.status, headOnly.text], [200, '']);
  t.ok(Number(headOnly.header('content-length')) > 0);
});

t.test('on an address beyond loopback a probe gets a status and no body', async (t) => {
  for (const method of ['GET', 'HEAD']) {
    const { probe } = await probedFor(t, '0.0.0.0:0');
    for (const path of ['/healthz', '/readyz']) {
      const answer = await probe(method, path);
      t.match([answer.status, answer.text, answer.header('content-length')], [200, '', '0'], path);
      t.equal(answer.header('content-type'), undefined);
    }
  }
});

t.test('without a token, and while it stops, the proxy is healthy and not ready', async (t) => {
  upstream.onLogin = () => 'HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n';
  for (const listen of ['127.0.0.1:0', '0.0.0.0:0']) {
    const { probe } = await probedFor(t, listen, false);
    t.equal((await probe('GET', '/healthz')).status, 200);
    const { status, text } = await probe('GET', '/readyz');
    t.equal(status, 503);
    t.equal(text.includes('token'), listen.startsWith('127'), 'the credential is named only on loopback');
  }
  upstream.reset();
  const { gateway, probe } = await probedFor(t, '127.0.0.1:0');
  const stopping = gateway.announceStop(50, 'SIGTERM');
  t.equal((await probe('GET', '/readyz')).status, 503);
  t.equal((await probe('GET', '/healthz')).status, 200);
  await stopping;
});

t.test('other paths get 404, and other methods 405', async (t) => {
  for (const listen of ['127.0.0.1:0', '0.0.0.0:0']) {
    const { probe } = await probedFor(t, listen);
    for (const path of ['/', '/metrics', '/status', '/healthz/', '/readyz/x', '//readyz', '/api', '*']) {
      t.equal((await probe('GET', path, 'x-bearerd-key: caller-key-0123456789')).status, 404, path);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const answer = await probe(method, '/readyz', 'content-length: 0');
      t.match([answer.status, answer.header('allow')], [405, 'GET, HEAD'], method);
      t.equal((await probe(method, '/renew', 'content-length: 0')).status, 404);
    }
    t.match(await probe('CONNECT', 'a:1'), { status: 405 });
    t.equal((await probe('CONNECT', 'a:1')).header('allow'), 'GET, HEAD');
  }
});

t.test('the probes listener is off by default, and needs its own address', async (t) => {
  const { gateway } = await gatewayFor(t, { baseUrl: upstream.url });
  t.same(gateway.probeUrls, []);
  const probes = (listen: string, more = {}) =>
    configOf({ baseUrl: upstream.url, env: { ...env(listen), ...more } });
  t.same((await probes('[::]:9182')).probesListen, [{ kind: 'tcp', host: '::', port: 9182 }]);
  const taken = { BEARERD_LISTEN: '127.0.0.1:9180', BEARERD_ADMIN_LISTEN: '127.0.0.1:9181' };
  for (const port of [9180, 9181]) {
    await t.rejects(probes(`0.0.0.0:${port}`, taken), {
      message: new RegExp(`^BEARERD_PROBES_LISTEN: 0\\.0\\.0\\.0:${port} is the same address as 127`),
    });
  }
  await t.rejects(probes('9182'), { message: /^BEARERD_PROBES_LISTEN: must be HOST:PORT/ });
});

t.test(
  'a new address of the probes listener needs a restart, and the listener closes with the proxy',
  async (t) => {
    const { gateway, port } = await probedFor(t, '127.0.0.1:0');
    const next = await configOf({ baseUrl: upstream.url, env: env('127.0.0.1:1') });
    t.same(gateway.reconfigure(next), ['admin.probes']);
    await gateway.destroy();
    await t.rejects(ask(port, request('GET', '/healthz')), { code: 'ECONNREFUSED' });
  },
);
