import t from 'tap';
import { parseBehaviour } from '../../src/mock/behaviour.ts';
import { bearer, call, logIn, logInAsUser, rawExchange, startedFor, tokenOf } from './fixtures/client.ts';

t.test('login modes that answer with a status', async (t) => {
  const mock = await startedFor(t);
  const statuses = {
    'refuse-400': 400,
    'refuse-401': 401,
    'forbid-403': 403,
    'server-error': 500,
    unavailable: 503,
    'rate-limit': 429,
    redirect: 307,
  } as const;
  for (const [login, status] of Object.entries(statuses)) {
    mock.behave({ login: login as keyof typeof statuses });
    t.equal((await logIn(mock)).status, status, login);
  }
  t.equal(mock.stats.logins, 0);
  t.equal(mock.stats.loginAttempts, 7);
});

t.test('data modes that answer with a status need no credential', async (t) => {
  const mock = await startedFor(t);
  const statuses = {
    unauthorized: 401,
    forbidden: 403,
    'server-error': 500,
    unavailable: 503,
    'rate-limit': 429,
    redirect: 307,
  } as const;
  for (const [data, status] of Object.entries(statuses)) {
    mock.behave({ data: data as keyof typeof statuses });
    const { status: got, headers } = await call(mock, '/companies/example.com');
    t.equal(got, status, data);
    if (status === 401) t.match(headers.get('www-authenticate'), 'invalid_token');
    if (status === 307) t.equal(headers.get('location'), `${mock.url}/moved`);
  }
  t.equal((await logIn(mock)).status, 200, 'data modes do not affect logins');
});

t.test('modes that break the answer', async (t) => {
  const mock = await startedFor(t);
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const expected = {
    down: /^$/,
    cut: /content-length: 1000\r[\s\S]*\{"accessToken":"$/,
    'not-http': /^this is not/,
  };
  for (const [mode, text] of Object.entries(expected)) {
    mock.behave({ login: mode as keyof typeof expected, data: mode as keyof typeof expected });
    t.match(await rawExchange(mock, request('/api/identity/v1/session')), text, `login ${mode}`);
    t.match(await rawExchange(mock, request('/health')), text, `data ${mode}`);
  }
  mock.behave({ login: 'garbage', data: 'garbage' });
  for (const { status, text } of [await logIn(mock), await call(mock, '/health')]) {
    t.equal(status, 200);
    t.match(text, /^<html>/);
  }
  mock.behave({ login: 'huge' });
  t.ok((await logIn(mock)).text.length > 64 * 1024);
});

t.test('the mode hang never answers', async (t) => {
  const mock = await startedFor(t);
  mock.behave({ login: 'hang', data: 'hang' });
  await t.rejects(call(mock, '/health', { signal: AbortSignal.timeout(150) }), { name: 'TimeoutError' });
  await t.rejects(
    call(mock, '/api/identity/v1/session', { method: 'POST', signal: AbortSignal.timeout(150) }),
    { name: 'TimeoutError' },
  );
});

t.test('login modes that change the token', async (t) => {
  let now = 1_800_000_000_000;
  const mock = await startedFor(t, { now: () => now });
  mock.behave({ login: 'same-token' });
  const [first, second] = [await logIn(mock), await logIn(mock)];
  t.same(first.json, second.json, 'token and expiry are the same');
  mock.revokeAll();
  t.same((await logIn(mock)).json, first.json, 'the token is the same after a revocation');
  now += 16 * 60_000;
  t.not(await tokenOf(mock), first.json.accessToken, 'after the expiry there is a new token');

  mock.behave({ login: 'expired-token' });
  const dead = await logIn(mock);
  t.ok(Date.parse(`${dead.json.expiresAt}Z`) < now);
  t.match((await call(mock, '/echo', { headers: bearer(dead.json.accessToken) })).json.message, /expired/);

  mock.behave({ login: 'no-expiry' });
  t.same(Object.keys((await logIn(mock)).json), ['accessToken']);
  t.same(Object.keys((await logInAsUser(mock)).json), ['access_token']);

  mock.behave({ login: 'no-token' });
  const before = mock.stats.logins;
  t.same((await logIn(mock)).json, {});
  t.equal(mock.stats.logins, before);
});

t.test('a delay applies in every mode, and slow has its own default', async (t) => {
  const mock = await startedFor(t);
  const timed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  mock.behave({ loginDelayMs: 200, dataDelayMs: 200, data: 'server-error' });
  t.ok((await timed(() => logIn(mock))) >= 195);
  t.ok((await timed(() => call(mock, '/health'))) >= 195);
  mock.behave({ login: 'slow', loginDelayMs: 0, data: 'slow', dataDelayMs: 0 });
  const both = async () => {
    const replies = await Promise.all([logIn(mock), call(mock, '/health')]);
    for (const { status } of replies) t.equal(status, 200);
  };
  t.ok((await timed(both)) >= 2_900);
});

t.test('Retry-After has the configured value', async (t) => {
  const mock = await startedFor(t);
  const retryAfter = async () => (await logIn(mock)).headers.get('retry-after');
  mock.behave({ login: 'unavailable' });
  t.equal(await retryAfter(), '2');
  mock.behave({ retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' });
  t.equal(await retryAfter(), 'Wed, 21 Oct 2026 07:28:00 GMT');
  mock.behave({ login: 'rate-limit', retryAfter: '' });
  t.equal(await retryAfter(), null);
});

t.test('tokenLifetimeMs applies to later tokens, up to very long lives', async (t) => {
  const now = Date.UTC(2026, 0, 1);
  const mock = await startedFor(t, { now: () => now });
  mock.behave({ tokenLifetimeMs: 3_000 });
  t.equal((await logIn(mock)).json.expiresAt, '2026-01-01T00:00:03.000000');
  mock.behave(parseBehaviour('tokenLifetime=3650d'));
  t.equal((await logIn(mock)).json.expiresAt, '2035-12-30T00:00:00.000000');
});
