import t from 'tap';
import type { ConfigObject } from '../../src/library/config-object.ts';
import { createTokenSource } from '../../src/library/index.ts';
import { startMockApi } from '../../src/mock/mock-api.ts';

const api = await startMockApi();
t.teardown(() => api.close());
const { clientId, clientSecret, apiKey } = api.credentials;

const CONFIG: ConfigObject = {
  baseUrl: api.url,
  session: { tokenWait: '60s' },
  credentials: {
    token: { type: 'session', clientId, clientSecret },
    other: { type: 'exec', command: ['/bin/echo', 'from-a-command'] },
    key: { type: 'apiKey', key: apiKey },
  },
};

const asks = async (token: string) =>
  (await fetch(`${api.url}/echo`, { headers: { authorization: `Bearer ${token}` } })).status;

t.test('createTokenSource gives the same token until it is invalidated', async (t) => {
  const source = await createTokenSource(CONFIG);
  t.teardown(() => source.close());
  const [first, again] = await Promise.all([source.token(), source.token()]);
  t.equal(first.value, again.value);
  t.ok(first.expiresAt instanceof Date && first.expiresAt.getTime() > Date.now());
  t.equal(await asks(first.value), 200);
  source.invalidate('some other token');
  t.equal((await source.token()).value, first.value);
  api.revokeAll();
  t.equal(await asks(first.value), 401);
  source.invalidate(first.value);
  const next = await source.token();
  t.not(next.value, first.value);
  t.equal(await asks(next.value), 200);
});

t.test('createTokenSource logs in only with the named credential', async (t) => {
  const { logins } = api.stats;
  const source = await createTokenSource(CONFIG, 'other');
  t.teardown(() => source.close());
  t.equal((await source.token()).value, 'from-a-command');
  t.equal(api.stats.logins, logins);
});

t.test('createTokenSource throws for a credential without a token', async (t) => {
  const key = await createTokenSource(CONFIG, 'key').catch((error: unknown) => error);
  t.match(key, { faults: [{ key: 'credentials.key' }] });
  await t.rejects(createTokenSource(CONFIG, 'nobody'), { code: 'config-invalid' });
  await t.rejects(createTokenSource(undefined as never), { code: 'config-invalid' });
});

t.test('token() rejects with the reason of a failed login, and after close', async (t) => {
  const credentials = { token: { type: 'session', clientId, clientSecret: 'wrong' } } as const;
  const refused = await createTokenSource({ ...CONFIG, credentials });
  await t.rejects(refused.token(), { code: 'login-refused' });
  const waiting = refused.token().catch((error: unknown) => error);
  await refused.close();
  t.match(await waiting, { code: /login-refused|draining/ });
  await t.rejects(refused.token(), { code: 'closed' });
  await refused.close();
});
