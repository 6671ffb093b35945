import t from 'tap';
import { bearer, call, logIn, logInAsUser, post, SESSION, startedFor, tokenOf } from './fixtures/client.ts';

const EXPIRY = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/;

t.test('a service account gets a JWT-style token and an expiry in UTC without a zone', async (t) => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  const mock = await startedFor(t, { now: () => now });
  const { status, json, headers } = await logIn(mock);
  t.equal(status, 200);
  t.equal(headers.get('content-type'), 'application/json');
  t.same(Object.keys(json), ['accessToken', 'expiresAt']);
  t.equal(json.expiresAt, '2026-01-02T03:19:05.678000');
  const parts = String(json.accessToken).split('.');
  t.equal(parts.length, 3);
  const claims = JSON.parse(Buffer.from(parts[1]!, 'base64url').toString());
  t.equal(claims.exp, Math.floor(now / 1000) + 15 * 60);
  t.match(mock.stats, { loginAttempts: 1, logins: 1, requests: 0 });
});

t.test('a user gets a token as access_token and expires_at', async (t) => {
  const mock = await startedFor(t, { password: 'p&ss=wörd +%' });
  const { status, json } = await logInAsUser(mock);
  t.equal(status, 200);
  t.same(Object.keys(json), ['access_token', 'expires_at']);
  t.match(json.expires_at, EXPIRY);
  t.equal((await call(mock, '/echo', { headers: bearer(json.access_token) })).status, 200);
});

t.test('each login gives a new token, and older tokens stay valid', async (t) => {
  const mock = await startedFor(t);
  const [first, second] = [await tokenOf(mock), await tokenOf(mock)];
  t.not(first, second);
  t.equal((await call(mock, '/echo', { headers: bearer(first) })).status, 200);
});

t.test('wrong credentials are refused with 401', async (t) => {
  const mock = await startedFor(t);
  const grantType = 'clientCredentials';
  const wrong = { grantType, clientId: mock.credentials.clientId, clientSecret: 'no' };
  const refused = await post(mock, SESSION, wrong);
  t.equal(refused.status, 401);
  t.equal(refused.json.error, 'invalid_credentials');
  t.notOk(refused.text.includes(mock.credentials.clientSecret));
  t.equal((await logInAsUser(mock, { password: 'no' })).status, 401);
  t.match(mock.stats, { loginAttempts: 2, logins: 0 });
});

t.test('a malformed login gets 400 with the reason', async (t) => {
  const mock = await startedFor(t);
  const { clientId, clientSecret } = mock.credentials;
  const good = { grantType: 'clientCredentials', clientId, clientSecret };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const cases: [body: unknown, reason: RegExp, headers?: Record<string, string>][] = [
    ['{', /not JSON/],
    ['[]', /JSON object/],
    [{ ...good, grantType: 'client_credentials' }, /grantType must be/],
    [{ ...good, clientId: 7 }, /clientId must be a string/],
    [{ ...good, clientSecret: undefined }, /clientSecret must be a string/],
    [{ ...good, scope: 'all' }, /unknown fields: scope/],
    [good, /content type/, { 'content-type': 'text/plain' }],
    ['username=a', /password must be given once/, form],
    ['username=a&username=b&password=c', /username must be given once/, form],
    ['username=a&password=b&grant=c', /unknown fields: grant/, form],
  ];
  for (const [body, reason, headers] of cases) {
    const { status, json } = await post(mock, SESSION, body, headers);
    t.equal(status, 400, String(reason));
    t.match(json.message, reason);
  }
});

t.test('the session endpoint accepts only POST', async (t) => {
  const mock = await startedFor(t);
  const { status, headers } = await call(mock, SESSION);
  t.equal(status, 405);
  t.equal(headers.get('allow'), 'POST');
});
