import t from 'tap';
import { DATA_MODES, LOGIN_MODES } from '../../src/mock/behaviour.ts';
import { isLoopback } from '../../src/mock/control.ts';
import { bearer, call, logIn, post, startedFor, tokenOf } from './fixtures/client.ts';

t.test('/__mock shows the behaviour, the counts and the account names, and no secret', async (t) => {
  const mock = await startedFor(t);
  const token = await tokenOf(mock);
  mock.behave({ data: 'down' });
  const { status, json, text } = await call(mock, '/__mock');
  t.equal(status, 200);
  t.match(json, {
    behaviour: { login: 'ok', data: 'down', tokenLifetimeMs: 900_000 },
    stats: { logins: 1, loginAttempts: 1, requests: 0 },
    credentials: { clientId: 'demo-service-account', username: 'ada@example.com' },
    choices: { login: [...LOGIN_MODES], data: [...DATA_MODES] },
  });
  const { clientSecret, password, apiKey } = mock.credentials;
  for (const secret of [clientSecret, password, apiKey, token]) t.notOk(text.includes(secret));
});

t.test('/__mock accepts changes as JSON and in the form of the command line', async (t) => {
  const mock = await startedFor(t);
  t.match((await post(mock, '/__mock', { login: 'refuse-401' })).json, {
    behaviour: { login: 'refuse-401' },
  });
  t.equal((await logIn(mock)).status, 401);
  const form = await call(mock, '/__mock', { method: 'POST', body: 'login=ok,tokenLifetime=3s' });
  t.match(form.json, { behaviour: { login: 'ok', tokenLifetimeMs: 3_000 } });
  t.equal((await logIn(mock)).status, 200);
});

t.test('/__mock refuses an invalid change and names the valid values', async (t) => {
  const mock = await startedFor(t);
  const cases: [body: unknown, message: RegExp][] = [
    ['{', /not JSON/],
    ['[]', /object of settings/],
    [{ login: 'dwon' }, /login: "dwon" must be one of ok, slow/],
    [{ logn: 'ok', data: 7 }, /unknown setting "logn"; valid: login, data.*; data: 7 must be one of/],
    ['{"__proto__":{}}', /unknown setting "__proto__"/],
    [{ dataDelayMs: '3s' }, /dataDelayMs: "3s" must be a number of milliseconds/],
    [{ retryAfter: 'a\r\nb' }, /retryAfter/],
    ['login=dwon', /must be one of/],
  ];
  for (const [body, message] of cases) {
    const { status, json } = await post(mock, '/__mock', body);
    t.equal(status, 400, String(message));
    t.match(json.message, message);
  }
  t.match((await call(mock, '/__mock')).json.behaviour, { login: 'ok', data: 'ok', retryAfter: 2 });
  t.equal((await call(mock, '/__mock/other')).status, 404);
});

t.test('/__mock/revoke makes every issued token invalid', async (t) => {
  const mock = await startedFor(t);
  const headers = bearer(await tokenOf(mock));
  t.equal((await call(mock, '/__mock/revoke', { method: 'POST' })).status, 200);
  t.equal((await call(mock, '/echo', { headers })).status, 401);
});

t.test('only loopback addresses may use /__mock', async (t) => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    t.ok(isLoopback(address), address);
  for (const address of [undefined, '10.0.0.1', '::ffff:10.0.0.1', '128.127.0.1', '::', 'fe80::1']) {
    t.notOk(isLoopback(address), String(address));
  }
});
