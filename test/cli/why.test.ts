import t from 'tap';
import { run } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { gatewayFor } from '../support/gateway.ts';
import { until } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

t.test('why asks the running one by its admin address alone', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  t.testdir({});
  const port = await freePort();
  const env = { BEARERD_ADMIN_LISTEN: `127.0.0.1:${port}`, BEARERD_ROUTES: '/open=none' };
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env });
  const why = (...args: string[]) => run(t, ['why', ...args], { BEARERD_ADMIN_LISTEN: `127.0.0.1:${port}` });
  t.match(await why(), { code: 1, stderr: /no request has failed since the start/ });
  await proxy.get('/nowhere?q=hidden');
  await until(() => proxy.requests().length === 1, 'it is over');
  const { requestId } = proxy.requests()[0]!;
  t.match(await why(), { code: 0, stdout: /^GET \/nowhere: 404 after .*what to do +Add a route/s });
  const json = await why(`urn:bearerd:request:${requestId}`, '--json');
  t.match(JSON.parse(json.stdout), { id: requestId, code: 'no-route' });
  t.match(await why('nobody'), { code: 1, stderr: /nobody is not known/ });
});

t.test('why ends with 69 where nothing runs', async (t) => {
  t.testdir({});
  const env = { BEARERD_ADMIN_LISTEN: `127.0.0.1:${await freePort()}` };
  t.match(await run(t, ['why'], env), { code: 69, stderr: /ECONNREFUSED/ });
});
