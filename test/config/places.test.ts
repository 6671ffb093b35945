import t from 'tap';
import { faultsOfYaml, loadYaml } from './load-from.ts';

// The place of a credential in a request, and the base URL of a session login.

const file = (entry: string, rest = '') =>
  `baseUrl: https://api.example.com\ncredentials:\n  a: ${entry}\nroutes: [{ prefix: /, credential: a${rest} }]\n`;

const faults = (entry: string) => faultsOfYaml(file(entry));

t.test('a key may be sent in a named header, query parameter or cookie', async (t) => {
  const at = async (entry: string) => (await loadYaml(file(entry))).credentials.get('a');
  t.match(await at('{ type: apiKey, key: x, in: query, name: api key }'), {
    kind: 'api-key',
    scheme: '',
    queryOrCookie: { in: 'query', name: 'api key' },
  });
  t.match(await at('{ type: apiKey, key: x, in: cookie, name: sid }'), {
    queryOrCookie: { in: 'cookie', name: 'sid' },
  });
  t.match(await at('{ type: apiKey, key: x, in: header, name: X-Key }'), {
    header: 'X-Key',
    scheme: '',
  });
  t.match(await at('{ type: exec, command: [x], in: query, name: t }'), {
    queryOrCookie: { in: 'query', name: 't' },
  });
  t.match(await at('{ type: basic, username: a, password: "b:c", header: X-Basic }'), {
    kind: 'basic',
    header: 'X-Basic',
    scheme: 'Basic',
  });
});

t.test('each fault of a place has a correction', async (t) => {
  const key = 'type: apiKey, key: x';
  t.same(await faults(`{ ${key}, in: query }`), ['credentials.a.name: is missing; in: query needs it']);
  t.same(await faults(`{ ${key}, in: querry, name: k }`), [
    'credentials.a.in: must be one of header, query, cookie; did you mean query?',
  ]);
  t.same(await faults(`{ ${key}, in: cookie, name: a b }`), [
    'credentials.a.name: must be a cookie name, such as session',
  ]);
  t.same(await faults(`{ ${key}, in: query, name: k, header: X-K, scheme: K }`), [
    'credentials.a.header: is for in: header; it means nothing with in: query',
    'credentials.a.scheme: is for in: header; it means nothing with in: query',
  ]);
  t.same(await faults(`{ ${key}, header: X-K, name: X-L }`), [
    'credentials.a.name: says the same as header; keep one of the two',
  ]);
  t.same(await faults(`{ ${key}, name: Host }`), [
    'credentials.a.name: must be another header: this one belongs to HTTP, to the client or to bearerd',
  ]);
  t.same(await faults(`{ ${key}, nam: k }`), [
    'credentials.a.nam: unknown key; did you mean credentials.a.name?',
  ]);
});

t.test(
  'a value must fit its place: a cookie allows fewer characters than a header, and a query all',
  async (t) => {
    const cookie = 'cannot be sent in a cookie: it holds a character that none may hold';
    for (const value of ['a;b', 'a b', 'a,b', '"a"', 'a\\\\b', 'é']) {
      const entry = (where: string) =>
        `{ type: apiKey, key: "${value.replaceAll('"', '\\"')}", in: ${where}, name: k }`;
      t.same(await faults(entry('cookie')), [`credentials.a.key: ${cookie}`], value);
      t.same(await faults(entry('query')), [], value);
    }
    t.same(await faults('{ type: apiKey, key: "a\\nb", in: query, name: k }'), []);
    const fromVariable = 'credentials: { apiKey: { type: apiKey, in: cookie, name: k } }';
    t.same(
      await faultsOfYaml(fromVariable, { BEARERD_BASE_URL: 'https://x.example', BEARERD_API_KEY: 'a;b' }),
      [`BEARERD_API_KEY: ${cookie}`],
    );
  },
);

t.test(
  'a colon in a user name for Basic, or a control character in either part, is a fault (RFC 7617)',
  async (t) => {
    t.same(await faults('{ type: basic, username: "a:b", password: "c\\td" }'), [
      'credentials.a.password: holds a control character, which Basic does not allow',
      'credentials.a.username: holds a colon, which would end it',
    ]);
    t.same(await faults('{ type: basic, username: a }'), ['credentials.a.password: is missing']);
    const [fault] = await faults('{ type: basic, username: a, password: b, scheme: x }');
    t.match(fault, /^credentials\.a: holds an unknown key|credentials\.a\.scheme: unknown key/);
  },
);

t.test('a session with its own base URL is sent only to that origin', async (t) => {
  const own =
    'type: session, clientId: a, clientSecret: b, baseUrl: https://staging.example/v1, sessionPath: /login';
  const config = await loadYaml(file(`{ ${own} }`, ', upstream: https://staging.example/v1'));
  t.match(config.credentials.get('a'), {
    origins: ['https://staging.example'],
    baseUrl: { origin: 'https://staging.example', basePath: '/v1' },
    sessionPath: '/login',
  });
  t.match(config.effective.credentials, {
    a: { baseUrl: 'https://staging.example/v1', sessionPath: '/login' },
  });
  t.same(await faults(`{ ${own} }`), [
    'routes[0].credential: would send a to https://api.example.com; allow it in credentials.a.origins',
  ]);
  t.match(
    await faults(
      '{ type: session, clientId: a, clientSecret: b, baseUrl: http://staging.example, sessionPath: / }',
    ),
    [
      /^credentials\.a\.baseUrl: may be http:\/\/ for a loopback host only/,
      'credentials.a.sessionPath: must be more than /',
      /^routes/,
    ],
  );
});
