import t from 'tap';
import { freePort } from '../support/free-port.ts';
import { gatewayFor, request } from '../support/gateway.ts';
import { inOneProcess } from '../support/one-process.ts';
import { ask, until } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

const call = inOneProcess(t);

t.test('why asks the running proxy, and needs only its admin address', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  t.testdir({});
  const port = await freePort();
  const env = { BEARERD_ADMIN_LISTEN: `127.0.0.1:${port}`, BEARERD_ROUTES: '/open=none' };
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env });
  const why = (...args: string[]) => call(t, ['why', ...args], { BEARERD_ADMIN_LISTEN: `127.0.0.1:${port}` });
  t.match(await why(), {
    code: 1,
    stdout:
      /^Now: all credentials are ready, and nothing is known to be wrong\.\n[\s\S]*Lately: no trouble\.\n$/,
    stderr: /no request has failed since the start/,
  });
  await proxy.get('/nowhere?q=hidden');
  await until(() => proxy.requests().length === 1, 'the request does not end');
  const { requestId } = proxy.requests()[0]!;
  t.match(await why(), {
    code: 0,
    stdout:
      /^GET \/nowhere: 404 after .*what to do +Add a route for this path to BEARERD_ROUTES .*The routes: \/open\./s,
  });
  const json = await why(`urn:bearerd:request:${requestId}`, '--json');
  t.match(JSON.parse(json.stdout), { id: requestId, code: 'no-route' });
  const { stdout } = await why(requestId);
  t.notMatch(stdout, /Now: /, 'with an ID it tells of that request alone');
  t.match(await why('nobody'), { code: 1, stderr: /request nobody is not known: .* Run "bearerd why"/ });
});

t.test('why says which login fails now, even if no request has failed', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  t.testdir({});
  const port = await freePort();
  const env = { BEARERD_ADMIN_LISTEN: `127.0.0.1:${port}` };
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env });
  const why = (...args: string[]) => call(t, ['why', ...args], env);
  upstream.onLogin = () => head('503 Service Unavailable', 'content-length: 0');
  await ask(port, request('POST', '/renew', 'content-length: 0'));
  const now =
    /Now: all .*\n- credential \S+ cannot renew its token, which is still valid for \d.*: .*503.* Next try in [1-9]\d* s\./;
  t.match(await why(), { code: 1, stdout: now, stderr: /no request has failed/ });
  upstream.onRequest = () => head('500 Oops', 'content-length: 0');
  await proxy.get('/x');
  await until(() => proxy.requests().length === 1, 'the request does not end');
  t.match(await why(), { code: 0, stdout: now });
  const json = await why('--json');
  t.equal(JSON.parse(json.stdout).status, 500, 'the JSON is the request alone');
  upstream.reset();
  await ask(port, request('POST', '/renew', 'content-length: 0'));
  const healed = await why();
  t.match(healed, {
    code: 0,
    stdout: /\nNow: all credentials are ready, and nothing else is known to be wrong\.\n/,
  });
  t.match(healed.stdout, /Lately[\s\S]*The login of credential "token" failed: [\s\S]*Over since \S+ \(/);
});

t.test('why ends with 69 where nothing runs', async (t) => {
  t.testdir({});
  const env = { BEARERD_ADMIN_LISTEN: `127.0.0.1:${await freePort()}` };
  t.match(await call(t, ['why'], env), {
    code: 69,
    stderr:
      /nothing listens at .*\. Start bearerd, or give[\s\S]*Its exit code says more:\n {2}71 = [\s\S]*\n {2}137 = /,
  });
});

t.test('why names what listens in the place of the proxy, also by a name like localhost', async (t) => {
  t.testdir({});
  const upstream = await RawUpstream.startedFor(t);
  const env = { BEARERD_ADMIN_LISTEN: `127.0.0.1:${await freePort()}` };
  for (const host of ['127.0.0.1', 'localhost', 'proxy.localhost']) {
    const { stderr } = await call(t, ['why'], { ...env, BEARERD_LISTEN: `${host}:${upstream.port}` });
    t.match(stderr, `Something else listens at ${host}:${upstream.port}, the address of the proxy`);
  }
});
