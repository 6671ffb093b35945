import t from 'tap';
import { FakeClock } from '../support/fake-clock.ts';
import { chunked, configOf, gatewayFor, request } from '../support/gateway.ts';
import { later } from '../support/later.ts';
import { until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream, type UpstreamRequest } from '../support/raw-upstream.ts';

// Which credential goes upstream, and what follows when the upstream rejects it.

const ROUTES = `
credentials:
  key: { type: apiKey, key: key-1 }
  custom: { type: apiKey, key: key-2, header: X-Api-Key, scheme: "" }
  customToken: { type: session, clientId: sa-2, clientSecret: client-secret, header: X-Token, scheme: Token }
routes:
  - { prefix: /, credential: token }
  - { prefix: /key, credential: key }
  - { prefix: /custom, credential: custom }
  - { prefix: /custom-token, credential: customToken }
  - { prefix: /none, credential: none }
  - { prefix: /keep, credential: token, clientAuthorization: keep }
  - { prefix: /keep-custom, credential: custom, clientAuthorization: keep }
  - { prefix: /keep-none, credential: none, clientAuthorization: keep }
  - { prefix: /reject, credential: token, clientAuthorization: reject }
  - { prefix: /reject-custom, credential: custom, clientAuthorization: reject }
`;

/** The upstream accepts only this token. */
function takes(token: string) {
  return ({ all, target }: UpstreamRequest) =>
    all('authorization').join() === `Bearer ${token}`
      ? ok(`yes ${target}`)
      : head('401 Unauthorized', 'www-authenticate: Bearer error="invalid_token"', 'content-length: 2') +
        'no';
}

t.test(
  "a client's header that a server may read as the credential's header is removed, with _ or - in either name",
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    for (const header of ['X-Api-Key', 'X_Api_Key', 'X_Api-Key']) {
      const yaml = `
credentials: { key: { type: apiKey, key: ours, header: ${header}, scheme: '' } }
routes: [{ prefix: /, credential: key }]`;
      const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml });
      for (const sent of ['x-api-key', 'X_API_KEY', 'X-Api_Key', header]) {
        t.equal((await proxy.get('/', `${sent}: mine`)).status, 200);
        t.notMatch(upstream.last.head, /mine/, `${sent} for ${header}`);
        t.match(upstream.last.head, `${header}: ours`);
      }
    }
  },
);

const OVERRIDES = [
  'X-Original-URL',
  'x-rewrite-url',
  'X-HTTP-METHOD-OVERRIDE',
  'X-HTTP-Method',
  'X-Method-Override',
  'X_Original_URL',
  'X-HTTP_Method_Override',
];

t.test(
  'a header that names another path or method is removed from requests with a credential of ours',
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    upstream.onLogin = () => grant('tok-1');
    const yaml = `
credentials: { token: { type: session, clientId: a, clientSecret: b }, apiKey: { type: apiKey, key: key-1 } }
routes:
  - { prefix: /, credential: token }
  - { prefix: /key, credential: apiKey, methods: [GET] }
  - { prefix: /own, credential: token, clientAuthorization: keep }
  - { prefix: /kept, credential: token, overrideHeaders: keep }
  - { prefix: /none, credential: none }`;
    const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml });
    const passed = async (target: string, ...more: string[]) => {
      const { status } = await proxy.get(target, ...OVERRIDES.map((name) => `${name}: /api/admin`), ...more);
      t.equal(status, 200, target);
      return OVERRIDES.filter((name) => upstream.last.all(name.toLowerCase()).length > 0);
    };
    for (const target of ['/', '/key', '/own']) t.same(await passed(target), [], target);
    t.same(await passed('/own', 'Authorization: Basic eDp5'), []);
    for (const target of ['/kept', '/none']) t.same(await passed(target), OVERRIDES, target);

    await proxy.get('/', 'X-Original-URL-2: a', 'X-HTTP-Methods: b', 'X-Original: c', 'XOriginal-URL: d');
    for (const name of ['x-original-url-2', 'x-http-methods', 'x-original', 'xoriginal-url'])
      t.equal(upstream.last.all(name).length, 1, `${name} is not one of them`);
    await proxy.get('/', 'X-Original-URI: /asked-about', 'X-Original-Method: GET');
    for (const name of ['x-original-uri', 'x-original-method'])
      t.equal(upstream.last.all(name).length, 1, `${name} asks an authorization service its question`);
  },
);

t.test('exactly one credential goes upstream, and it is ours', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = () => grant('tok-1');
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: ROUTES });
  const clients = [
    'authorization: Basic eDp5',
    'AUTHORIZATION: Bearer stolen',
    'Authorization: x',
    'Proxy-Authorization: Basic eDp5',
    'X-Api-Key: mine',
    'x-token: mine',
    'Connection: close, authorization, X-Api-Key, x-token',
  ];
  const sent = async (target: string, ...lines: string[]) => {
    const { status } = await proxy.get(target, ...lines);
    const names = ['authorization', 'proxy-authorization', 'x-api-key', 'x_api_key', 'x-token'];
    return [status, ...names.flatMap((name) => upstream.last.all(name).map((value) => `${name}: ${value}`))];
  };
  const plain = clients.slice(0, 4);
  t.same(await sent('/', ...clients), [200, 'authorization: Bearer tok-1']);
  t.same(await sent('/'), [200, 'authorization: Bearer tok-1']);
  t.same(await sent('/key/x', ...clients), [200, 'authorization: Bearer key-1']);
  t.same(
    await sent('/keyring', ...plain),
    [200, 'authorization: Bearer tok-1'],
    'a prefix matches whole segments',
  );
  t.same(
    await sent('/custom', ...clients, 'X_Api_Key: mine'),
    [200, 'x-api-key: key-2'],
    'CGI does not tell _ from -',
  );
  t.same(await sent('/custom-token', ...clients), [200, 'x-token: Token tok-1']);
  t.same(await sent('/none', ...plain), [200]);

  t.test('clientAuthorization: keep sends the one credential of the client', async (t) => {
    t.same(await sent('/keep'), [200, 'authorization: Bearer tok-1']);
    t.same(await sent('/keep', 'authorization: Basic eDp5'), [200, 'authorization: Basic eDp5']);
    t.same(await sent('/keep-none', 'authorization: Basic eDp5'), [200, 'authorization: Basic eDp5']);
    t.same(await sent('/keep-none'), [200]);
    t.same(await sent('/keep-custom'), [200, 'x-api-key: key-2']);
    t.same(await sent('/keep-custom', 'x-api-key: mine'), [200, 'x-api-key: mine']);
    t.same(await sent('/keep-custom', 'authorization: Basic eDp5'), [200, 'authorization: Basic eDp5']);
    t.equal(
      (await proxy.get('/keep', ...plain)).status,
      400,
      'two credentials are refused: the upstream might read either',
    );
    t.equal((await proxy.get('/keep-custom', 'x-api-key: a', 'x_api_key: b')).status, 400);
  });

  t.test('clientAuthorization: reject refuses a request with a credential', async (t) => {
    t.same(await sent('/reject'), [200, 'authorization: Bearer tok-1']);
    t.same(await sent('/reject-custom'), [200, 'x-api-key: key-2']);
    for (const [target, line] of [
      ['/reject', 'authorization: Basic eDp5'],
      ['/reject', 'Authorization:'],
      ['/reject-custom', 'X-Api-Key: mine'],
      ['/reject-custom', 'X_Api_Key: mine'],
      ['/reject-custom', 'authorization: Basic eDp5'],
    ] as const) {
      const { status, text } = await proxy.get(target, line);
      t.same([status, JSON.parse(text).code], [400, 'client-authorization'], line);
      t.notMatch(text, 'eDp5');
    }
  });
});

t.test('after a 401 a new token is got, and the request is sent once more, byte for byte', async (t) => {
  const bodies: Record<string, string> = {
    none: request('GET', '/none?x', 'x-a: 1'),
    small: `${request('POST', '/small', 'content-length: 30000')}${'s'.repeat(30_000)}`,
    chunked: request('PUT', '/chunked', 'transfer-encoding: chunked') + chunked('a'.repeat(20_000), 'b'),
    limit: `${request('POST', '/limit', 'content-length: 65536')}${'l'.repeat(65_536)}`,
    expected: `${request('POST', '/expected', 'expect: 100-continue', 'content-length: 3')}abc`,
  };
  await Promise.all(
    Object.entries(bodies).map(async ([kind, bytes]) => {
      const upstream = await RawUpstream.startedFor(t);
      const proxy = await gatewayFor(t, { baseUrl: upstream.url });
      upstream.onRequest = takes('tok-2');
      const response = await proxy.ask(bytes);
      t.match([response.status, response.text], [200, /^yes/], kind);
      t.equal(upstream.requests.length, 2, kind);
      const [first, second] = upstream.requests as [UpstreamRequest, UpstreamRequest];
      t.ok((await first.message).body.equals((await second.message).body), kind);
      // By then the body is whole, so its length is sent in place of chunks.
      const own = /^(?:authorization|content-length|transfer-encoding)$/i;
      const others = ({ lines }: UpstreamRequest) => lines.filter(([name]) => !own.test(name));
      t.same([second.startLine, others(second)], [first.startLine, others(first)], kind);
      t.equal(upstream.logins, 2, kind);
      t.equal(
        (await proxy.get('/next')).text,
        'yes /next',
        'the next request has the new token at its first try',
      );
      t.equal(upstream.requests.length, 3);
    }),
  );
});

t.test('a request that cannot be repeated gets the 401, and the next request has a new token', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url });
  upstream.onRequest = takes('tok-2');
  const piece = 'x'.repeat(100_000);
  const response = await proxy.ask(
    request('POST', '/up', 'transfer-encoding: chunked') +
      chunked(...Array.from({ length: 30 }, () => piece)),
  );
  t.same([response.status, response.text], [401, 'no']);
  t.equal(response.header('www-authenticate'), 'Bearer error="invalid_token"');
  t.equal((await upstream.last.message).body.length, 3_000_000, 'the upstream got the whole body, once');
  t.equal(upstream.requests.length, 1);
  upstream.requests.length = 0;
  t.equal((await proxy.get('/next')).text, 'yes /next');
  t.equal(upstream.requests.length, 1);
  const other = await gatewayFor(t, { baseUrl: upstream.url });
  const size = 65_537;
  const large = await other.ask(`${request('POST', '/over', `content-length: ${size}`)}${'x'.repeat(size)}`);
  t.same(
    [large.status, upstream.requests.length],
    [401, 2],
    'a body one byte above the limit for a second try',
  );

  await t.test('a request whose body is not whole yet gets the 401, too', async (t) => {
    upstream.onHead = () => `${head('401 Unauthorized', 'content-length: 2')}no`;
    const client = await proxy.client();
    client.send(`${request('POST', '/slow', 'content-length: 10')}12345`);
    t.equal((await client.response()).status, 401);
    client.close();
  });
});

t.test('a second 401 passes unchanged and does not end the new token', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url });
  upstream.onRequest = (asked) => (asked.target === '/forbidden' ? takes('none')(asked) : ok('fine'));
  for (let i = 0; i < 20; i++) {
    const { status, text, header } = await proxy.get('/forbidden');
    t.same([status, text, header('www-authenticate')], [401, 'no', 'Bearer error="invalid_token"']);
  }
  t.equal(upstream.requests.length, 21, 'only the first request was sent twice');
  t.equal(upstream.logins, 2);
  t.equal((await proxy.get('/')).text, 'fine', 'other requests are served');
  upstream.onRequest = () => `${head('403 Forbidden', 'content-length: 2')}no`;
  for (let i = 0; i < 5; i++) t.equal((await proxy.get('/')).status, 403);
  t.equal(upstream.logins, 2, 'a 403 causes no renewal');
});

t.test('if the renewal fails, the 401 of the upstream passes', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url });
  upstream.onRequest = takes('tok-2');
  upstream.onLogin = () => head('500 Oops', 'content-length: 0');
  const { status, text, header } = await proxy.get('/');
  t.same([status, text, header('www-authenticate')], [401, 'no', 'Bearer error="invalid_token"']);
  t.equal(upstream.requests.length, 1);
});

t.test('a late 401 for an old token causes no login', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url });
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.onRequest = async (asked) => {
    if (asked.target === '/late' && asked.header('authorization') === 'Bearer tok-1') await held;
    return takes('tok-2')(asked);
  };
  const late = await proxy.client();
  late.send(request('GET', '/late'));
  await until(() => upstream.requests.length === 1, 'no request');
  t.equal((await proxy.get('/first')).text, 'yes /first');
  release();
  t.equal((await late.response()).text, 'yes /late');
  t.equal(upstream.logins, 2);
  late.close();
});

t.test('a 401 for an API key passes, and renews no token', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, {
    baseUrl: upstream.url,
    env: { BEARERD_API_KEY: 'key-1', BEARERD_ROUTES: '/key=apiKey,/=token' },
  });
  upstream.onRequest = takes('tok-1');
  const { status, text, header } = await proxy.get('/key');
  t.same([status, text, header('www-authenticate')], [401, 'no', 'Bearer error="invalid_token"']);
  t.equal(upstream.requests.length, 1);
  t.equal((await proxy.get('/')).text, 'yes /');
  t.equal(upstream.logins, 1);
});

t.test(
  'a token that ends during the connect is not sent; the request goes up whole with the next token',
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const clock = new FakeClock();
    let connect = (): void => {};
    let connected: Promise<void> | undefined;
    upstream.onRequest = async ({ method }, { body }) => {
      if (method !== 'CONNECT') return ok(`${body.length}`);
      await connected;
      return head('200 OK');
    };
    upstream.onLogin = (login) => grant(`tok-${login}`, login === 1 ? 2 : 3600);
    // A slow outbound proxy: the only way to make the connect slow here.
    const proxy = await gatewayFor(t, {
      clock,
      baseUrl: 'http://upstream.test',
      env: { HTTP_PROXY: upstream.url, BEARERD_ALLOW_INSECURE_UPSTREAM: 'true' },
    });
    connected = new Promise((resolve) => (connect = resolve));
    const { length: before } = upstream.requests;
    const size = 500_000;
    const ask = proxy.ask(
      request('POST', '/', 'transfer-encoding: chunked') + chunked(...Array(5).fill('x'.repeat(size / 5))),
    );
    await until(() => upstream.requests.length > before, 'no CONNECT');
    t.same([upstream.last.method, upstream.logins], ['CONNECT', 1]);
    await clock.advance(2_500);
    connect();
    const response = await ask;
    t.same([response.status, response.text], [200, `${size}`]);
    t.same(
      upstream.requests
        .filter(({ method }) => method === 'POST')
        .map(({ header }) => header('authorization')),
      ['Bearer tok-2'],
    );
  },
);

t.test('a request whose body comes late is sent with the token that is present then', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = (login) => grant(`tok-${login}`, login === 1 ? 2 : 3600);
  const clock = new FakeClock();
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, clock });
  const slow = [await proxy.client(), await proxy.client()] as const;
  slow[0].send(request('POST', '/', 'transfer-encoding: chunked'));
  slow[1].send(request('POST', '/', 'content-length: 2'));
  await until(() => proxy.gateway.inFlight === 2, 'no requests');
  await clock.advance(2_200);
  slow[0].send(chunked('{}'));
  slow[1].send('{}');
  for (const client of slow) {
    t.equal((await client.response()).status, 200);
    client.close();
  }
  t.same(
    upstream.requests.map(({ header }) => header('authorization')),
    ['Bearer tok-2', 'Bearer tok-2'],
  );
});

t.test('a reload does not disturb requests that wait for a token, or that are under way', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  let login = (_answer: Buffer): void => {};
  upstream.onLogin = () =>
    new Promise<Buffer>((resolve) => {
      login = resolve;
    });
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, loggedIn: false });
  const waiting = [
    proxy.ask(request('GET', '/get')),
    proxy.ask(`${request('POST', '/post', 'content-length: 2')}{}`),
  ];
  await until(() => proxy.gateway.inFlight === 2 && upstream.logins === 1, 'the requests are not under way');
  proxy.gateway.reconfigure(await configOf({ baseUrl: upstream.url }));
  login(grant('tok-1'));
  t.same(
    (await Promise.all(waiting)).map(({ status }) => status),
    [200, 200],
  );
  let answer = (_bytes: Buffer): void => {};
  upstream.onRequest = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const underWay = proxy.get('/slow');
  await until(() => upstream.last.target === '/slow', 'no request');
  proxy.gateway.reconfigure(await configOf({ baseUrl: upstream.url }));
  answer(ok('done'));
  t.equal((await underWay).text, 'done');
});

t.test('a 401 without a body, or one that breaks off, stays a 401 while a token is renewed', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const rejected = head('401 Unauthorized', 'www-authenticate: Bearer', 'content-length: 2');
  const ends: Record<string, (request: UpstreamRequest) => void> = {
    'HEAD, whole': ({ connection }) => connection.send(rejected),
    'HEAD, closed': ({ connection }) => connection.send(head('401 No', 'connection: close')).end(),
    'GET, whole, then a reset': ({ connection }) => {
      connection.send(`${rejected}no`);
      later(30, () => connection.reset());
    },
    'GET, broken off': ({ connection }) => {
      connection.send(`${rejected}n`);
      later(30, () => connection.reset());
    },
    'POST, read in part, then closed': ({ connection }) => {
      connection.send(`${rejected}no`);
      later(30, () => connection.end());
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    const method = name.split(',')[0]!;
    const bytes =
      method === 'POST'
        ? `${request('POST', '/', 'content-length: 20000')}${'b'.repeat(20_000)}`
        : request(method, '/');
    for (const renews of [true, false]) {
      upstream.reset();
      let given = 0;
      upstream.onLogin = () => {
        given++;
        if (given === 1) return grant('tok-1');
        return renews ? grant('tok-2') : head('500 No', 'content-length: 0');
      };
      const proxy = await gatewayFor(t, { baseUrl: upstream.url });
      upstream.onRequest = (arrived) => {
        if (arrived.header('authorization') === 'Bearer tok-2') {
          return head('200 OK', 'content-length: 0', 'x-from: upstream');
        }
        end(arrived);
        return undefined;
      };
      const client = await proxy.client();
      const answer = await client.send(bytes).response(method);
      if (renews)
        t.same(
          [answer.status, answer.header('x-from')],
          [200, 'upstream'],
          `${name}: the request was sent once more`,
        );
      else t.equal(answer.status, 401, `${name}: the 401 of the upstream`);
      client.close();
    }
  }
});

t.test('a redirect passes, and bearerd does not follow it', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const elsewhere = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: ROUTES });
  const location = `${elsewhere.url}/x`;
  for (const status of ['301 Moved', '302 Found', '303 See Other', '307 Temporary', '308 Permanent']) {
    upstream.onRequest = () => head(status, `location: ${location}`, 'content-length: 0');
    const answer = await proxy.get('/');
    t.same([answer.status, answer.header('location')], [Number.parseInt(status, 10), location]);
  }
  t.equal(elsewhere.connections.length, 0);
});
