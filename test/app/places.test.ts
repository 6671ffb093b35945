import { inspect } from 'node:util';
import t, { type Test } from 'tap';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { answer, CA_FILE, Http2Upstream } from '../support/h2-upstream.ts';
import { ask, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// A credential may be sent in the query or a cookie, and may log in at its own base URL.

const KEY = 'canary+key/=&é';
const ON_THE_WIRE = 'canary%2Bkey%2F%3D%26%C3%A9';

async function world(t: Test) {
  const [api, staging] = await Promise.all([RawUpstream.startedFor(t), RawUpstream.startedFor(t)]);
  const yaml = `
credentials:
  query:   { type: apiKey, key: '${KEY}', in: query, name: api_key }
  cookie:  { type: apiKey, key: canary-cookie, in: cookie, name: sid }
  named:   { type: apiKey, key: canary-named, in: header, name: X-Key, scheme: '' }
  basic:   { type: basic, username: ada, password: 'canary:é' }
  tokenQ:  { type: session, clientId: a, clientSecret: b, in: query, name: access_token }
  tokenC:  { type: session, clientId: a, clientSecret: b, in: cookie, name: t }
  staging: { type: session, clientId: s, clientSecret: b, baseUrl: '${staging.url}/base', sessionPath: /login }
routes:
  - { prefix: /query, credential: query }
  - { prefix: /keep, credential: query, clientAuthorization: keep }
  - { prefix: /reject, credential: query, clientAuthorization: reject }
  - { prefix: /cookie, credential: cookie }
  - { prefix: /keep-cookie, credential: cookie, clientAuthorization: keep }
  - { prefix: /reject-cookie, credential: cookie, clientAuthorization: reject }
  - { prefix: /named, credential: named }
  - { prefix: /basic, credential: basic }
  - { prefix: /token/query, credential: tokenQ }
  - { prefix: /token/cookie, credential: tokenC }
  - { prefix: /staging, credential: staging, upstream: '${staging.url}/base', rewrite: / }
  - { prefix: /plain, credential: staging, upstream: '${staging.url}' }
  - { prefix: /login, credential: none, upstream: '${staging.url}/base' }
  - { prefix: /, credential: none }
`;
  const env = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
  const options = { baseUrl: api.url, yaml, env };
  let logins = 0;
  staging.onRequest = ({ target, method }) =>
    method === 'POST' && target === '/base/login'
      ? ok(`{"accessToken":"staging-${++logins}","expires_in":3600}`)
      : ok();
  const proxy = await gatewayFor(t, options);
  await until(() => proxy.gateway.readiness.ready, 'not all credentials have a token');
  return { api, staging, proxy, options, logins: () => logins };
}

t.test(
  "a key in the query replaces the client's parameter of that name, and the rest of the query stays",
  async (t) => {
    const { api, proxy } = await world(t);
    const target = '/query/x?a=%2f&api%5Fkey=mine&&b;api_key=mine';
    t.equal((await proxy.get(target, 'authorization: Bearer mine')).status, 200);
    t.equal(api.last.target, `/query/x?a=%2f&&b&api_key=${ON_THE_WIRE}`);
    t.same(api.last.all('authorization'), []);
    await proxy.get('/query');
    t.equal(api.last.target, `/query?api_key=${ON_THE_WIRE}`);
    await proxy.get('/?api_key=mine');
    t.equal(api.last.target, '/?api_key=mine', "another route's parameter is the client's");
  },
);

t.test("an empty parameter or cookie of the client's is replaced by ours, even with keep", async (t) => {
  const { api, proxy } = await world(t);
  for (const query of [
    '?api_key=&x',
    '?api_key&x',
    '?api_key=%20&x',
    '?api%5fkey=+&x',
    '?api_key=;api_key=&x',
  ]) {
    await proxy.get(`/keep${query}`);
    t.equal(api.last.target, `/keep?x&api_key=${ON_THE_WIRE}`, query);
  }
  for (const cookie of ['sid=', 'sid', 'sid= ; sid=', 'a=1; sid=']) {
    await proxy.get('/keep-cookie', `cookie: ${cookie}`);
    t.match(api.last.all('cookie'), [/(?:^|^a=1; )sid=canary-cookie$/], cookie);
  }
  await proxy.get('/keep?api_key=&api_key=mine');
  t.equal(api.last.target, '/keep?api_key=&api_key=mine');
  await proxy.get('/keep-cookie', 'cookie: sid=; sid=mine');
  t.same(api.last.all('cookie'), ['sid=; sid=mine']);
  t.equal(JSON.parse((await proxy.get('/reject?api_key=')).text).code, 'client-authorization');
});

t.test(
  "a client's parameter or cookie of the credential's name counts as the client's own credential",
  async (t) => {
    const { api, proxy } = await world(t);
    await proxy.get('/keep?api%5fkey=mine&x');
    t.equal(api.last.target, '/keep?api%5fkey=mine&x');
    await proxy.get('/keep?x');
    t.equal(api.last.target, `/keep?x&api_key=${ON_THE_WIRE}`);
    t.equal(JSON.parse((await proxy.get('/reject?a;api_key=1')).text).code, 'client-authorization');
    t.equal((await proxy.get('/reject?a')).status, 200);
    t.equal((await proxy.get('/reject-cookie', 'cookie: a=1; sid=2')).status, 400);
    t.equal((await proxy.get('/reject-cookie', 'cookie: a=1; Sid=2')).status, 200);
  },
);

t.test("a browser's cookies, which are dropped, are no credential of the client's", async (t) => {
  const { api, proxy, options } = await world(t);
  const browser = ['cookie: a=1; sid=mine', 'cookie: sid=other', 'sec-fetch-site: same-origin'];
  t.equal((await proxy.get('/keep-cookie', ...browser)).status, 200);
  t.same(api.last.all('cookie'), ['sid=canary-cookie']);
  t.equal((await proxy.get('/reject-cookie', ...browser)).status, 200);
  t.same(api.last.all('cookie'), ['sid=canary-cookie']);
  await proxy.get('/keep-cookie', ...browser, 'authorization: Bearer mine');
  t.same([api.last.all('cookie'), api.last.all('authorization')], [[], ['Bearer mine']]);

  const env = { ...options.env, BEARERD_BROWSER_COOKIES: 'true' };
  const passing = await gatewayFor(t, { ...options, env });
  await passing.get('/keep-cookie', 'cookie: a=1; sid=mine', 'sec-fetch-site: same-origin');
  t.same(api.last.all('cookie'), ['a=1; sid=mine']);
  t.equal((await passing.get('/reject-cookie', ...browser)).status, 400);
});

t.test("a key in a cookie comes after the client's cookies, in one header line", async (t) => {
  const { api, proxy } = await world(t);
  const cookies = async (...lines: string[]) => {
    t.equal((await proxy.get('/cookie', ...lines)).status, 200);
    return api.last.all('cookie');
  };
  t.same(await cookies(), ['sid=canary-cookie']);
  t.same(await cookies('cookie: a=1; sid=mine;b="2"'), ['a=1;b="2"; sid=canary-cookie']);
  t.same(await cookies('cookie: sid=mine'), ['sid=canary-cookie']);
  t.same(await cookies('cookie: a=1', 'x: y', 'cookie: sid=mine; b=2'), ['a=1', 'b=2; sid=canary-cookie']);
  t.same(await cookies('cookie: a=1', 'connection: cookie'), ['sid=canary-cookie']);
  t.same(await cookies('cookie: a=1', 'origin: http://localhost'), ['sid=canary-cookie'], 'of a browser');
});

t.test('a user name and a password are sent as Basic, in UTF-8; a header may be set by name', async (t) => {
  const { api, proxy } = await world(t);
  t.equal((await proxy.get('/basic', 'authorization: Basic bWluZQ==')).status, 200);
  t.same(api.last.all('authorization'), [`Basic ${Buffer.from('ada:canary:é').toString('base64')}`]);
  t.equal((await proxy.get('/named', 'x-key: mine')).status, 200);
  t.same([api.last.all('x-key'), api.last.all('authorization')], [['canary-named'], []]);
});

t.test('a token in the query or a cookie is renewed after a 401', async (t) => {
  const { api, proxy } = await world(t);
  t.equal((await proxy.get('/token/query?access_token=mine&x=1')).status, 200);
  const first = /^\/token\/query\?x=1&access_token=(tok-\d+)$/.exec(api.last.target)?.[1] ?? '';
  t.match(first, /^tok-/);
  api.onRequest = ({ target }) => (target.includes(first) ? head('401 No', 'content-length: 0') : ok());
  t.equal((await proxy.get('/token/query?x=1')).status, 200);
  t.match(api.last.target, /^\/token\/query\?x=1&access_token=tok-\d+$/);
  t.notMatch(api.last.target, new RegExp(`${first}$`));
  t.equal((await proxy.get('/token/cookie')).status, 200);
  t.match(api.last.all('cookie')[0], /^t=tok-\d+$/);
});

t.test('a credential in the query is in no Location, log line, status or configuration', async (t) => {
  const { api, proxy } = await world(t);
  api.onRequest = ({ target }) =>
    head('302 Found', `location: ${target.replace('query', 'query/')}`, 'content-length: 0');
  t.equal((await proxy.get('/query?x=1')).header('location'), '/query/?x=1');
  api.onRequest = ({ target }) =>
    head('302 Found', `location: http://elsewhere.example${target}#f`, 'content-length: 0');
  t.equal((await proxy.get('/query')).header('location'), 'http://elsewhere.example/query#f');
  api.onRequest = () => 'HTTP/1.1 nonsense\r\n\r\n';
  t.equal((await proxy.get('/query?x=1')).status, 502);
  const shown = ['/status', '/requests', '/configuration', '/metrics'].map(
    async (path) => (await ask(proxy.adminPort, request('GET', path))).text,
  );
  const everything = JSON.stringify([proxy.events, ...(await Promise.all(shown))]);
  t.notMatch(everything, /canary/);
});

/** Header lines of an answer that echo the request's target in different ways. */
function showing(target: string): string[] {
  const nested = encodeURIComponent(target);
  return [
    `location: ${target}`,
    `content-location: ${target}`,
    `link: <${target}&page=2>; rel="next", <${target}>; rel=self`,
    `link: <https://elsewhere.example/?u=${nested}>; rel=x; anchor="${target}"`,
    `refresh: 3; url=${target}`,
    `set-cookie: back=${nested}; Path=/`,
    `x-original-url: ${target}`,
  ];
}

t.test(
  'a credential in the query is removed from each URL in headers of an answer, a handshake or its refusal, over HTTP/1.1 and HTTP/2',
  async (t) => {
    const { api, proxy } = await world(t);
    const shown = (answer: { readonly lines: readonly (readonly [string, string])[] }) =>
      answer.lines
        .filter(([name]) => /location|link|refresh|cookie|url/i.test(name))
        .map(([, value]) => value);
    const expected = [
      '/query?x=1',
      '/query?x=1',
      '</query?x=1&page=2>; rel="next", </query?x=1>; rel=self',
      '<https://elsewhere.example/?u=%2Fquery%3Fx%3D1>; rel=x; anchor="/query?x=1"',
      '3; url=/query?x=1',
      'back=%2Fquery%3Fx%3D1; Path=/',
      '/query?x=1',
    ];
    api.onRequest = ({ target }) => head('200 OK', ...showing(target), 'content-length: 0');
    t.same(shown(await proxy.get('/query?x=1')), expected);
    const websocket = ['connection: upgrade', 'upgrade: websocket'];
    t.same(shown(await proxy.get('/query?x=1', ...websocket)), expected, 'a refused handshake');
    api.onRequest = ({ target }) => head('101 Go', ...showing(target), ...websocket);
    const client = await proxy.client();
    client.send(request('GET', '/query?x=1', ...websocket));
    t.same(shown(await client.response()), expected, 'a handshake');
    client.close();

    const h2 = await Http2Upstream.startedFor(t);
    h2.onRequest = (asked) => {
      const lines = showing(asked.target).map((line): [string, string] => {
        const [name = '', value = ''] = line.split(/: (.*)/);
        return [name, value];
      });
      answer(asked, '', 200, ...lines);
    };
    const yaml = `
tls: { caFile: '${CA_FILE}' }
credentials: { query: { type: apiKey, key: '${KEY}', in: query, name: api_key } }
routes: [{ prefix: /, credential: query }]
`;
    const overHttp2 = await gatewayFor(t, { baseUrl: h2.url, yaml });
    t.same(shown(await overHttp2.get('/query?x=1')), expected, 'HTTP/2');
    t.equal(h2.requests.length, 1);
  },
);

t.test('a parameter and a cookie of the client come back unchanged', async (t) => {
  const { api, proxy } = await world(t);
  api.onRequest = ({ target }) => head('302 Found', `location: ${target}`, 'content-length: 0');
  t.equal((await proxy.get('/keep?api_key=mine')).header('location'), '/keep?api_key=mine');
  t.equal((await proxy.get('/keep?x')).header('location'), '/keep?x');
});

t.test('a Set-Cookie that holds the credential is dropped, and others pass', async (t) => {
  const { api, proxy } = await world(t);
  api.onRequest = (asked) => {
    const sid = asked.all('cookie')[0]?.replace(/^.*sid=/, '') ?? '';
    return head('200 OK', `set-cookie: sid=${sid}; Path=/`, 'set-cookie: a=1', 'content-length: 0');
  };
  t.same((await proxy.get('/cookie')).all('set-cookie'), ['a=1']);
  t.same((await proxy.get('/', 'cookie: sid=mine')).all('set-cookie'), ['sid=mine; Path=/', 'a=1']);
});

t.test(
  'a session with its own base URL logs in there and is sent only there, and no spelling of its session path is forwarded',
  async (t) => {
    const { api, staging, proxy, logins } = await world(t);
    t.equal((await proxy.get('/staging/x')).status, 200);
    t.equal(staging.last.target, '/base/x');
    t.match(staging.last.header('authorization'), /^Bearer staging-1$/);
    for (const path of [
      '/staging/login',
      '/staging/login/x',
      '/staging/LOGIN',
      '/staging/log%69n',
      '/login',
    ]) {
      const { status, text } = await proxy.get(path);
      t.match([status, JSON.parse(text).code], [403, 'route-denied'], path);
    }
    t.equal((await proxy.get('/plain/base/login')).status, 200, 'another path of the same server');
    t.equal(staging.last.target, '/plain/base/login');
    t.equal(api.requests.length, 0);
    t.equal(logins(), 1);
  },
);

t.test('no object that holds a key in the query, a key in a cookie or a password shows it', async (t) => {
  const { proxy, options } = await world(t);
  const config = await configOf(options);
  const shown = [config, proxy.gateway].map((each) => inspect(each, { depth: 20, showHidden: true }));
  const values = [...config.credentials.values()];
  const text = [...shown, JSON.stringify(values), `${values}`].join();
  t.notMatch(text, new RegExp(`canary|${Buffer.from('ada:canary:é').toString('base64')}`));
});

t.test('a reload that changes only the place of a credential causes no login', async (t) => {
  const { proxy, options, api } = await world(t);
  const before = api.logins;
  const moved = options.yaml.replaceAll('name: access_token', 'name: token');
  proxy.gateway.reconfigure(await configOf({ ...options, yaml: moved }));
  t.equal((await proxy.get('/token/query')).status, 200);
  t.equal(api.last.target.replace(/tok-.*/, ''), '/token/query?token=');
  t.equal(api.logins, before);
});
