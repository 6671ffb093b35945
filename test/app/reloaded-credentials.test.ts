import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { configOf, type GatewayOptions, gatewayFor, request } from '../support/gateway.ts';
import { until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream, type UpstreamRequest } from '../support/raw-upstream.ts';

// A token goes only to the origins that its own configuration names, whatever a reload changes meanwhile.

const UNAUTHORIZED = head('401 No', 'content-length: 0');
const never = () => undefined;
const NO_VARIABLES = { BEARERD_CLIENT_ID: undefined, BEARERD_CLIENT_SECRET: undefined };

/** Holds an answer back until `give` is called. */
function held() {
  const { promise, resolve } = Promise.withResolvers<Buffer | string>();
  return { answer: () => promise as Promise<Buffer>, give: resolve };
}

/** Two APIs with a session endpoint each, and a proxy in front of the first. */
async function twoApis(t: Test, options: Partial<GatewayOptions> = {}) {
  const [old, next] = [await RawUpstream.startedFor(t), await RawUpstream.startedFor(t)];
  old.onLogin = (login) => grant(`old-${login}`);
  next.onLogin = (login) => grant(`new-${login}`);
  if (options.loggedIn === false) old.onLogin = never;
  const proxy = await gatewayFor(t, { baseUrl: old.url, ...options });
  const reload = async () => proxy.gateway.reconfigure(await configOf({ ...options, baseUrl: next.url }));
  return { old, next, proxy, reload };
}

/** The same, with a request under way that the first API answers once `give` is called. */
async function twoApisAndOneRequest(t: Test) {
  const apis = await twoApis(t);
  const { answer, give } = held();
  apis.old.onRequest = answer;
  const underWay = apis.proxy.get('/slow');
  await until(() => apis.old.requests.length === 1, 'no request is under way');
  return { ...apis, underWay, give };
}

/** The tokens that an API has got, in order. */
const tokensAt = ({ requests }: RawUpstream) => requests.map(({ header }) => header('authorization'));

t.test('a request that waits for a token gets 503 if a reload brings another login server', async (t) => {
  const { old, next, proxy, reload } = await twoApis(t, { loggedIn: false });
  const upgrade = request('GET', '/ws', 'connection: upgrade', 'upgrade: websocket');
  const waiting = [proxy.get('/get'), proxy.ask(upgrade)];
  await until(() => proxy.gateway.inFlight === 2 && old.logins === 1, 'the requests do not wait');
  await reload();
  for (const { status, text, header } of await Promise.all(waiting)) {
    t.same([status, header('retry-after')], [503, '1']);
    t.match(JSON.parse(text), { code: 'token-unavailable', detail: /^A reload has replaced or removed / });
  }
  t.equal((await proxy.get('/later')).status, 200);
  t.same([tokensAt(old), tokensAt(next)], [[], ['Bearer new-1']]);
  t.equal(old.logins, 1, 'the former login server is not asked again');
});

t.test('a 401 of the former upstream passes if a reload has brought another login server', async (t) => {
  const { old, next, proxy, reload, underWay, give } = await twoApisAndOneRequest(t);
  await reload();
  t.equal((await proxy.get('/')).status, 200);
  give(UNAUTHORIZED);
  t.equal((await underWay).status, 401);
  t.same([tokensAt(old), tokensAt(next)], [['Bearer old-1'], ['Bearer new-1']]);
  t.same([old.logins, next.logins], [1, 1]);
});

t.test('a 401 that is held during a renewal passes if a reload brings another login server', async (t) => {
  const { old, next, proxy, reload } = await twoApis(t);
  old.onRequest = () => UNAUTHORIZED;
  old.onLogin = never;
  const underWay = proxy.get('/refused');
  await until(() => old.logins === 2, 'no renewal');
  await reload();
  t.equal((await underWay).status, 401);
  t.equal((await proxy.get('/')).status, 200);
  t.same([tokensAt(old), tokensAt(next)], [['Bearer old-1'], ['Bearer new-1']]);
});

t.test('a request that began before a reload is sent to its own upstream with its own token', async (t) => {
  const { old, next, proxy, reload } = await twoApis(t);
  const client = await proxy.client();
  client.send(request('POST', '/', 'content-length: 2'));
  await until(() => proxy.gateway.inFlight === 1, 'no request');
  await reload();
  t.equal((await proxy.get('/')).status, 200);
  client.send('{}');
  t.equal((await client.response()).status, 200);
  t.same([tokensAt(old), tokensAt(next)], [['Bearer old-1'], ['Bearer new-1']]);
  client.close();
});

t.test(
  'the former token of a replaced credential changes neither log, metrics nor the new token',
  async (t) => {
    const { proxy, reload, underWay, give } = await twoApisAndOneRequest(t);
    await reload();
    t.equal((await proxy.get('/')).status, 200);
    const { length } = proxy.events;
    give(UNAUTHORIZED);
    await underWay;
    t.same(
      proxy.events.slice(length).map(({ type }) => type),
      ['request'],
    );
    t.match(Object.values(proxy.gateway.status.credentials), [{ state: 'fresh' }]);
  },
);

/** A token server for two tenants, an API for each, and a proxy for tenant A. Logins of tenant B are refused. */
async function twoTenants(t: Test, more = '') {
  const [apiA, apiB, issuer] = [
    await RawUpstream.startedFor(t),
    await RawUpstream.startedFor(t),
    await RawUpstream.startedFor(t),
  ];
  const logins: string[] = [];
  const tenants: Record<string, (request: UpstreamRequest) => unknown> = {
    '/a': () => ok(`{"access_token":"of-a-${logins.length}","token_type":"Bearer","expires_in":3600}`),
    '/b': () => UNAUTHORIZED,
  };
  issuer.onRequest = (request) => {
    logins.push(request.target);
    return tenants[request.target]?.(request);
  };
  /** @param origins those of the credential; the route goes to the first */
  const options = (tenant: string, [to, ...rest]: readonly RawUpstream[], secret = 's'): GatewayOptions => ({
    baseUrl: to!.url,
    yaml: `
credentials:
  acct:
    type: oauth2
    tokenUrl: '${issuer.url}/${tenant}'
    clientId: c
    clientSecret: ${secret}
    origins: [${[to!, ...rest].map(({ url }) => `'${url}'`).join(', ')}]
routes: [{ prefix: /, credential: acct }]
${more}`,
    env: { ...NO_VARIABLES, BEARERD_TOKEN_WAIT: '200ms' },
  });
  const start = async (...origins: RawUpstream[]) => {
    const proxy = await gatewayFor(t, options('a', origins));
    await until(() => proxy.gateway.readiness.ready, 'there is no token');
    const reload = async (...to: Parameters<typeof options>) =>
      proxy.gateway.reconfigure(await configOf(options(...to)));
    return { proxy, reload };
  };
  return { apiA, apiB, logins, tenants, start };
}

t.test('the token of one tenant never goes to the API of another', async (t) => {
  const path = join(t.testdir({}), 'token');
  const { apiA, apiB, start } = await twoTenants(t, `sinks: [{ file: ${path}, credential: acct }]`);
  const { proxy, reload } = await start(apiA);
  await until(() => existsSync(path), 'the sink has no token');
  await reload('b', [apiB]);
  t.match(JSON.parse((await proxy.get('/')).text), { status: 503 });
  await until(() => !existsSync(path), 'the token of the former tenant stays in the sink');
  t.same([tokensAt(apiA), tokensAt(apiB)], [[], []]);
});

t.test('another tenant at the same token server and API begins without a token', async (t) => {
  const { apiA, start } = await twoTenants(t);
  const { proxy, reload } = await start(apiA);
  await reload('b', [apiA]);
  t.match(JSON.parse((await proxy.get('/')).text), { status: 503 });
  t.same(tokensAt(apiA), []);
});

t.test('a changed secret keeps the old token only if the origins stay the same', async (t) => {
  const { apiA, apiB, tenants, start } = await twoTenants(t);
  const { proxy, reload } = await start(apiA);
  tenants['/a'] = () => UNAUTHORIZED;
  await reload('a', [apiA], 'another');
  t.equal((await proxy.get('/')).status, 200);
  t.same(tokensAt(apiA), ['Bearer of-a-1']);
  await reload('a', [apiB], 'another');
  t.match(JSON.parse((await proxy.get('/')).text), { status: 503 });
  t.same(tokensAt(apiB), []);
});

t.test(
  'a token from before a change of the secret does not go to an origin that is added later',
  async (t) => {
    const { apiA, apiB, tenants, start } = await twoTenants(t);
    const { proxy, reload } = await start(apiA);
    tenants['/a'] = () => UNAUTHORIZED;
    await reload('a', [apiA], 'another');
    await reload('a', [apiB, apiA], 'another');
    t.match(JSON.parse((await proxy.get('/')).text), { status: 503 });
    t.same(tokensAt(apiB), []);
  },
);

t.test('an unchanged credential keeps its token when its origins change', async (t) => {
  const { apiA, apiB, logins, start } = await twoTenants(t);
  const { proxy, reload } = await start(apiA);
  await reload('a', [apiA, apiB]);
  await reload('a', [apiB]);
  t.equal((await proxy.get('/')).status, 200);
  t.same([tokensAt(apiB), logins], [['Bearer of-a-1'], ['/a']]);
});

t.test('a request to an origin that a reload removes gets no token of a later configuration', async (t) => {
  const { apiA, apiB, tenants, start } = await twoTenants(t);
  const { proxy, reload } = await start(apiA, apiB);
  const { answer, give } = held();
  apiA.onRequest = answer;
  const underWay = proxy.get('/slow');
  await until(() => apiA.requests.length === 1, 'no request is under way');
  await reload('a', [apiB]);
  tenants['/a'] = () => ok('{"access_token":"of-another","token_type":"Bearer","expires_in":3600}');
  await reload('a', [apiB], 'another');
  await until(
    () => proxy.events.filter(({ type }) => type === 'login-succeeded').length === 2,
    'no login with the new secret',
  );
  give(UNAUTHORIZED);
  t.equal((await underWay).status, 401);
  t.same(tokensAt(apiA), ['Bearer of-a-1']);
});

t.test('the token of one command never goes where that of another command goes', async (t) => {
  const [apiA, apiB] = [await RawUpstream.startedFor(t), await RawUpstream.startedFor(t)];
  const options = ({ url }: RawUpstream, command: string): GatewayOptions => ({
    baseUrl: url,
    yaml: `credentials: { acct: { type: exec, command: ${command} } }\nroutes: [{ prefix: /, credential: acct }]`,
    env: { ...NO_VARIABLES, BEARERD_TOKEN_WAIT: '200ms' },
  });
  const proxy = await gatewayFor(t, options(apiA, '[echo, of-a]'));
  await until(() => proxy.gateway.readiness.ready, 'there is no token');
  proxy.gateway.reconfigure(await configOf(options(apiB, '["false"]')));
  t.match(JSON.parse((await proxy.get('/')).text), { code: 'token-unavailable' });
  t.same(tokensAt(apiB), []);
});

t.test('a request that waits for the token of a removed or renamed credential gets a true 503', async (t) => {
  for (const after of [
    'renamed: { type: session, clientId: c, clientSecret: s }',
    'key: { type: apiKey, key: k }',
  ]) {
    const api = await RawUpstream.startedFor(t);
    api.onLogin = never;
    const options = (credential: string): GatewayOptions => ({
      baseUrl: api.url,
      yaml: `credentials: { ${credential} }\nroutes: [{ prefix: /, credential: ${credential.split(':')[0]} }]`,
      env: NO_VARIABLES,
      loggedIn: false,
    });
    const proxy = await gatewayFor(t, options('old: { type: session, clientId: c, clientSecret: s }'));
    const waiting = proxy.get('/');
    await until(() => proxy.gateway.inFlight === 1 && api.logins === 1, 'no request waits');
    proxy.gateway.reconfigure(await configOf(options(after)));
    const { text, header } = await waiting;
    t.match(JSON.parse(text), {
      status: 503,
      code: 'token-unavailable',
      detail: /^A reload has replaced or removed /,
    });
    t.equal(header('retry-after'), '1');
    t.equal(api.requests.length, 0);
  }
});

t.test(
  'a rotated secret loses no request: those that wait get the new token, and a held 401 is repeated',
  async (t) => {
    const api = await RawUpstream.startedFor(t);
    const options = (secret: string) => ({
      baseUrl: api.url,
      env: { BEARERD_CLIENT_SECRET: secret },
      loggedIn: false,
    });
    api.onLogin = never;
    const proxy = await gatewayFor(t, options('first'));
    const waiting = proxy.get('/waiting');
    await until(() => proxy.gateway.inFlight === 1 && api.logins === 1, 'no request waits');
    api.onLogin = (login) => grant(`tok-${login}`);
    proxy.gateway.reconfigure(await configOf(options('second')));
    t.equal((await waiting).status, 200);
    api.onLogin = never;
    api.onRequest = ({ header }) => (header('authorization') === 'Bearer tok-2' ? UNAUTHORIZED : ok());
    const refused = proxy.get('/refused');
    await until(() => api.logins === 3, 'no renewal');
    api.onLogin = (login) => grant(`tok-${login}`);
    proxy.gateway.reconfigure(await configOf(options('third')));
    t.equal((await refused).status, 200);
    t.same(tokensAt(api), ['Bearer tok-2', 'Bearer tok-2', 'Bearer tok-4']);
  },
);

t.test('a token that no cookie may hold is not sent as one after a reload', async (t) => {
  const api = await RawUpstream.startedFor(t);
  api.onLogin = () => grant('a; role=admin');
  const options = (place: string): GatewayOptions => ({
    baseUrl: api.url,
    yaml: `
credentials: { acct: { type: session, clientId: c, clientSecret: s, ${place} } }
routes: [{ prefix: /, credential: acct }]`,
    env: { ...NO_VARIABLES, BEARERD_TOKEN_WAIT: '200ms' },
  });
  const proxy = await gatewayFor(t, options('header: X-Token'));
  t.equal((await proxy.get('/')).status, 200);
  proxy.gateway.reconfigure(await configOf(options('in: cookie, name: sid')));
  t.match(JSON.parse((await proxy.get('/')).text), { code: 'token-unavailable' });
  t.equal(api.requests.length, 1);
});
