import t from 'tap';
import { configOf, gatewayFor } from '../support/gateway.ts';
import { ask, until } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

// Problems that an operator must see without reading the log.

const ADMIN = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
const get = (port: number, path: string) => ask(port, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);

t.test(
  'reloads, unusable secret files and internal errors are counted, and many internal errors make /healthz fail',
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const { adminPort, tell } = await gatewayFor(t, {
      internalErrors: true,
      baseUrl: upstream.url,
      env: ADMIN,
    });
    const metrics = async () => (await get(adminPort, '/metrics')).text;
    t.match(await metrics(), /^bearerd_config_reloads_total\{result="refused"\} 0$/m);
    t.match(await metrics(), /^bearerd_internal_errors_total 0$/m);
    tell({ type: 'reloaded', by: 'SIGHUP', restartNeededFor: [] });
    tell({ type: 'reload-refused', by: 'SIGHUP', reason: 'x' });
    tell({ type: 'secret-trouble', path: '/x', reason: 'x' });
    for (let n = 0; n < 9; n++) tell({ type: 'internal-error', where: 'test', cause: new Error('x') });
    t.match(await get(adminPort, '/healthz'), { status: 200, text: 'ok\n' });
    tell({ type: 'internal-error', where: 'test', cause: new Error('x') });
    t.equal((await get(adminPort, '/healthz')).status, 503);
    const text = await metrics();
    t.match(text, /^bearerd_internal_errors_total 10$/m);
    for (const result of ['ok', 'refused', 'unusable']) {
      t.match(text, new RegExp(`^bearerd_config_reloads_total\\{result="${result}"\\} 1$`, 'm'));
    }
  },
);

t.test('an observer that throws does not keep other observers from events', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const { get, tell, events } = await gatewayFor(t, { baseUrl: upstream.url });
  tell({ type: 'login-failed' } as Parameters<typeof tell>[0]); // Incomplete: an observer throws.
  t.equal((await get('/x')).status, 200);
  t.ok(events.some(({ type }) => type === 'request'));
});

t.test('a new configuration during the drain causes no login', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  let finish = (_bytes: Buffer): void => {};
  upstream.onRequest = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  const { gateway, get } = await gatewayFor(t, { baseUrl: upstream.url });
  const underWay = get('/x');
  await until(() => gateway.inFlight === 1 && upstream.requests.length > 0, 'no request');
  const drained = gateway.drain(5_000, 'SIGTERM');
  const logins = upstream.logins;
  gateway.reconfigure(await configOf({ baseUrl: upstream.url, env: { BEARERD_CLIENT_SECRET: 'another' } }));
  finish(ok('done'));
  t.equal((await underWay).text, 'done');
  t.equal(await drained, 0);
  t.equal(upstream.logins, logins);
});
