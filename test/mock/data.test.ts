import t from 'tap';
import { bearer, call, FIND, post, rawExchange, startedFor, tokenOf } from './fixtures/client.ts';

t.test('people are found by e-mail address, with a token or an API key', async (t) => {
  const mock = await startedFor(t);
  const find = (term: string) => ({ fields: [{ field_name: 'email_address', search_term: term }] });
  for (const credential of [await tokenOf(mock), mock.credentials.apiKey]) {
    const body = { matches: [find('ADA@example.com'), find('nobody@example.com'), find('ada@example.com')] };
    const { status, json } = await post(mock, FIND, body, bearer(credential));
    t.equal(status, 200);
    t.match(json, { people: [{ full_name: 'Ada Example' }] });
    t.equal((json.people as unknown[]).length, 1);
  }
  const both = {
    matches: [{ fields: [...find('ada@example.com').fields, ...find('zoe@example.org').fields] }],
  };
  t.same((await post(mock, FIND, both, bearer(mock.credentials.apiKey))).json, { people: [] });
});

t.test('a malformed find request gets 400 with the place of the fault', async (t) => {
  const mock = await startedFor(t);
  const key = bearer(mock.credentials.apiKey);
  const cases: [body: unknown, reason: RegExp][] = [
    ['nonsense', /not JSON/],
    [[], /JSON object/],
    [{}, /matches must be an array/],
    [{ matches: [] }, /matches must be an array that is not empty/],
    [{ matches: [1] }, /matches\[0\] must be an object/],
    [{ matches: [{ fields: [null] }] }, /matches\[0\]\.fields\[0\] must be an object/],
    [{ matches: [{ fields: [{ search_term: 'a' }] }] }, /field_name must be a string/],
    [{ matches: [{ fields: [{ field_name: 'email_address' }] }] }, /search_term must be a string/],
    [{ matches: [{ fields: [{ field_name: 'shoe_size', search_term: '9' }] }] }, /email_address/],
  ];
  for (const [body, reason] of cases) {
    const { status, json } = await post(mock, FIND, body, key);
    t.equal(status, 400, String(reason));
    t.match(json.message, reason);
  }
  const typed = await post(mock, FIND, {}, { ...key, 'content-type': 'text/plain' });
  t.match(typed.json.message, /content type/);
  t.equal((await post(mock, '/api/people/v1/o_other/find', {}, key)).status, 403);
});

t.test('a company is found by its name or its domain', async (t) => {
  const mock = await startedFor(t);
  for (const credential of [await tokenOf(mock), mock.credentials.apiKey]) {
    const headers = bearer(credential);
    t.match((await call(mock, '/companies/example.com?x=1', { headers })).json, { name: 'Example Engines' });
    t.match((await call(mock, '/companies/probe%20%26%20s%C3%B6hne', { headers })).json, {
      domain: 'example.org',
    });
    t.equal((await call(mock, '/companies/nowhere.example', { headers })).status, 404);
    t.equal((await call(mock, '/companies/caf%E9', { headers })).status, 400);
  }
});

t.test('each path accepts only its kinds of credential', async (t) => {
  const mock = await startedFor(t);
  const credentials = [await tokenOf(mock), mock.credentials.apiKey];
  const cases: [path: string, withToken: number, withKey: number][] = [
    ['/api/reports/v1/o_demo/summary', 200, 401],
    ['/api/reports/v1/o_other/summary', 403, 401],
    ['/api/keys-only/v1/lookup', 401, 200],
    ['/api/admin/v1/roles', 403, 401],
    ['/health', 200, 200],
    ['/echo', 200, 200],
    ['/nowhere', 404, 404],
  ];
  for (const [path, ...expected] of cases) {
    for (const [i, credential] of credentials.entries()) {
      const { status } = await call(mock, path, { headers: bearer(credential) });
      t.equal(status, expected[i], `${path} ${i === 0 ? 'token' : 'key'}`);
    }
  }
  t.equal((await call(mock, '/health')).status, 200);
  t.match((await call(mock, '/companies/example.com', { method: 'PUT' })).headers.get('allow'), 'GET, HEAD');
});

t.test('a missing, malformed or unknown credential gets 401 with a challenge', async (t) => {
  const mock = await startedFor(t);
  for (const authorization of [undefined, 'Basic YTpi', 'Bearer', 'Bearer unknown']) {
    const init = authorization === undefined ? {} : { headers: { authorization } };
    const { status, headers, json } = await call(mock, '/companies/example.com', init);
    t.equal(status, 401);
    t.equal(headers.get('www-authenticate'), 'Bearer error="invalid_token"');
    t.equal(json.error, 'invalid_token');
  }
  t.equal(mock.stats.unauthorized, 4);
  const twice =
    'GET /echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n';
  t.match(await rawExchange(mock, twice), /400[\s\S]*more than one Authorization/);
});

t.test(
  'the echo shows the request and the account of its credential, and never the credential',
  async (t) => {
    const mock = await startedFor(t);
    const token = await tokenOf(mock);
    const headers = { ...bearer(token), 'x-one': 'two' };
    const { json, text } = await call(mock, '/echo/caf%E9?q=1', { method: 'PUT', body: 'hällo', headers });
    t.match(json, { method: 'PUT', path: '/echo/caf%E9?q=1', bodyLength: 6 });
    t.equal(json.account, mock.credentials.clientId);
    t.match(json.headers, { 'x-one': 'two', authorization: { kind: 'token' } });
    t.notOk(text.includes(token));
    const keyed = await call(mock, '/echo', { headers: bearer(mock.credentials.apiKey) });
    t.match(keyed.json.headers, { authorization: { kind: 'api-key' } });
    t.notOk('account' in keyed.json, 'a key names none');
  },
);

t.test('server-sent events come one by one, and the stream ends', async (t) => {
  const mock = await startedFor(t);
  const headers = bearer(await tokenOf(mock));
  let longest = 0;
  // Where the machine stands still meanwhile, they are read together.
  for (let tries = 0; tries < 4 && longest <= 500; tries++) {
    const response = await fetch(`${mock.url}/events`, { headers });
    t.equal(response.headers.get('content-type'), 'text/event-stream');
    const times: number[] = [];
    let text = '';
    for await (const chunk of response.body!) {
      times.push(performance.now());
      text += Buffer.from(chunk);
    }
    t.equal(text.split('event: tick').length - 1, 5);
    longest = Math.max(longest, times.at(-1)! - times[0]!);
  }
  t.ok(longest > 500, 'the events are spread over time');
});
