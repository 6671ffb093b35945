import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { configOf, gatewayFor } from '../support/gateway.ts';
import { ask, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// One proxy with a session, an OAuth 2.0 client and a command, each with its own token.

/** Prints `exec-1`, `exec-2`, …; the count is kept in a file. */
const SCRIPT =
  'n=$(($(cat "$0") + 1)); echo $n > "$0"; echo "{\\"token\\":\\"exec-$n\\",\\"expires_in\\":3600}"';

async function world(t: Test, { lifetimeS = 3600, env = {} } = {}) {
  const [api, partner, issuer] = await Promise.all([
    RawUpstream.startedFor(t),
    RawUpstream.startedFor(t),
    RawUpstream.startedFor(t),
  ]);
  let issued = 0;
  const issue = () =>
    ok(`{"access_token":"oauth-${++issued}","token_type":"Bearer","expires_in":${lifetimeS}}`);
  issuer.onRequest = issue;
  const count = join(t.testdir({ count: '0' }), 'count');
  const yaml = (secret = 'partner-secret') => `
credentials:
  partner: { type: oauth2, tokenUrl: '${issuer.url}/token', clientId: c, clientSecret: ${secret}, origins: ['${partner.url}'] }
  program: { type: exec, command: [/bin/sh, -c, '${SCRIPT}', '${count}'], header: X-Token, scheme: '' }
routes:
  - { prefix: /partner, credential: partner, upstream: '${partner.url}', rewrite: / }
  - { prefix: /program, credential: program }
  - { prefix: /, credential: token }
`;
  const options = (secret?: string) => ({
    baseUrl: api.url,
    yaml: yaml(secret),
    env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0', BEARERD_TOKEN_WAIT: '200ms', ...env },
  });
  const proxy = await gatewayFor(t, options());
  await until(() => proxy.gateway.readiness.ready, 'not all three have a token');
  return {
    api,
    partner,
    issuer,
    issue,
    proxy,
    admin: (path: string) => ask(proxy.adminPort, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`),
    reload: async (secret: string) => proxy.gateway.reconfigure(await configOf(options(secret))),
    logins: () => [api.logins, issuer.requests.length, Number(readFileSync(count, 'utf8'))],
  };
}

t.test('the token of each credential goes only to its own routes', async (t) => {
  const { api, partner, issuer, proxy, logins, admin } = await world(t);
  t.equal((await proxy.get('/partner/x?y', 'authorization: Bearer mine')).status, 200);
  t.same(
    [partner.last.target, partner.last.all('authorization'), partner.last.all('x-token')],
    ['/x?y', ['Bearer oauth-1'], []],
  );
  t.equal((await proxy.get('/program', 'x-token: mine')).status, 200);
  t.same([api.last.all('authorization'), api.last.all('x-token')], [[], ['exec-1']]);
  t.equal((await proxy.get('/elsewhere')).status, 200);
  t.same([api.last.all('authorization'), api.last.all('x-token')], [['Bearer tok-1'], []]);
  t.same([api.requests.length, partner.requests.length], [2, 1]);
  t.same(logins(), [1, 1, 1]);
  t.equal(issuer.last.target, '/token');
  t.match(JSON.parse((await admin('/status')).text).credentials, {
    token: { kind: 'session', state: 'fresh' },
    partner: { kind: 'oauth2', state: 'fresh' },
    program: { kind: 'exec', state: 'fresh' },
  });
  t.same(proxy.internalErrors(), []);
});

t.test('a failing token endpoint affects only its own route, and /readyz names the credential', async (t) => {
  const { issuer, issue, proxy, admin } = await world(t, { lifetimeS: 2 });
  const statuses = async () =>
    Promise.all(['/partner', '/program', '/'].map(async (path) => (await proxy.get(path)).status));
  t.same(await statuses(), [200, 200, 200]);
  issuer.onRequest = () => head('500 Oh', 'content-length: 0');
  await until(() => !proxy.gateway.readiness.ready, 'the token does not expire');
  t.same(await statuses(), [503, 200, 200]);
  const ready = await admin('/readyz');
  t.equal(ready.status, 503);
  t.match(JSON.parse(ready.text), {
    ready: false,
    credentials: { partner: { state: 'expired' }, program: { state: 'fresh' }, token: { state: 'fresh' } },
  });
  t.equal(JSON.parse((await proxy.get('/partner')).text).code, 'token-unavailable');
  const failed = proxy.events.filter((event) => event.type === 'login-failed');
  t.same([...new Set(failed.map(({ credential }) => credential))], ['partner']);
  issuer.onRequest = issue;
  await until(() => proxy.gateway.readiness.ready, 'the proxy does not recover');
  t.same(await statuses(), [200, 200, 200]);
});

t.test('a refused OAuth client gives 503 at once, on its own route', async (t) => {
  const { issuer, proxy } = await world(t, { lifetimeS: 2 });
  const no = '{"error":"invalid_client"}';
  issuer.onRequest = () => `${head('401 No', `content-length: ${no.length}`)}${no}`;
  await until(() => !proxy.gateway.readiness.ready, 'the token does not expire');
  t.equal(JSON.parse((await proxy.get('/partner')).text).code, 'login-refused');
  t.equal((await proxy.get('/')).status, 200);
});

t.test('a 401 of the upstream renews only the rejected token', async (t) => {
  const { api, partner, proxy, logins } = await world(t);
  const unauthorized = head('401 No', 'content-length: 0');
  partner.onRequest = (request) =>
    request.header('authorization') === 'Bearer oauth-1' ? unauthorized : ok();
  t.equal((await proxy.get('/partner')).status, 200);
  t.equal(partner.last.header('authorization'), 'Bearer oauth-2');
  t.same(logins(), [1, 2, 1]);
  api.onRequest = (request) => (request.header('x-token') === 'exec-1' ? unauthorized : ok());
  t.equal((await proxy.get('/program')).status, 200);
  t.equal(api.last.header('x-token'), 'exec-2');
  t.same(logins(), [1, 2, 2]);
  t.equal((await proxy.get('/')).status, 200);
  t.equal(api.last.header('authorization'), 'Bearer tok-1');
});

t.test('a reload renews the token of a changed credential, and keeps the others', async (t) => {
  const { issuer, proxy, reload, logins } = await world(t);
  await reload('partner-secret');
  await reload('another-secret');
  await until(() => issuer.requests.length === 2, 'the new client secret is not used');
  const basic = issuer.last.header('authorization')?.replace('Basic ', '') ?? '';
  t.equal(Buffer.from(basic, 'base64').toString(), 'c:another-secret');
  t.same(logins(), [1, 2, 1]);
  t.equal((await proxy.get('/partner')).status, 200);
});

t.test('a credential that changes its kind does not keep its token', async (t) => {
  const [api, issuer] = await Promise.all([RawUpstream.startedFor(t), RawUpstream.startedFor(t)]);
  issuer.onRequest = () => undefined;
  const options = (credential: string) => ({
    baseUrl: api.url,
    yaml: `credentials: { partner: { ${credential} } }\nroutes: [{ prefix: /, credential: partner }]`,
    env: { BEARERD_TOKEN_WAIT: '100ms' },
  });
  const proxy = await gatewayFor(t, options('type: session, clientId: c, clientSecret: s'));
  await until(() => proxy.gateway.readiness.ready, 'the credential has no token');
  t.equal((await proxy.get('/')).status, 200);
  const oauth2 = `type: oauth2, tokenUrl: '${issuer.url}', clientId: c, clientSecret: s`;
  proxy.gateway.reconfigure(await configOf(options(oauth2)));
  t.equal((await proxy.get('/')).status, 503, 'there is no token of the new kind yet');
  t.equal(api.requests.length, 1);
});
