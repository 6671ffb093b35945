import t from 'tap';
import { LoginError } from '../../src/base/login-error.ts';
import { redirectTargetOf } from '../../src/login/answer-failure.ts';
import type { LoginAnswer, RedirectTarget } from '../../src/login/login-answer.ts';
import { tokenInAnswer } from '../../src/login/token-in-answer.ts';
import { readable } from '../support/outcome.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const TOKEN = 'eyJhbGciOiJub25lIn0';

interface Sent {
  readonly status?: number;
  readonly headers?: LoginAnswer['headers'];
  readonly redirect?: RedirectTarget;
  readonly elapsedMs?: number;
}

function answer(body: unknown, sent: Sent = {}): LoginAnswer {
  const { status = 200, headers = {}, redirect, elapsedMs = 0 } = sent;
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { status, headers, redirect, body: bytes, receivedWallMs: NOW, elapsedMs };
}

const read = (sent: LoginAnswer) => tokenInAnswer(sent, 'oauth-at-session');

function failure(body: unknown, sent?: Sent): LoginError {
  try {
    read(answer(body, sent));
  } catch (error) {
    if (error instanceof LoginError) return error;
    throw error;
  }
  throw new Error('the answer counts as a login');
}

t.test('a token is read from accessToken and from access_token', async (t) => {
  const expiry = { expires_in: 60 };
  for (const fields of [
    { accessToken: TOKEN },
    { access_token: TOKEN },
    { accessToken: TOKEN, access_token: 'another' },
    { accessToken: '', access_token: TOKEN },
    { accessToken: null, access_token: TOKEN },
    { accessToken: 1, access_token: TOKEN, token_type: 'Bearer', user: { name: 'Ada' } },
  ]) {
    const issued = read(answer({ ...fields, ...expiry }));
    t.same(readable(issued), { token: TOKEN, lifetimeMs: 60_000, warnings: [] }, JSON.stringify(fields));
  }
  for (const token of ['x', '~', 'a.b-c_d/e+f==', 'Bearer abc', 'x'.repeat(20_000)]) {
    t.equal(read(answer({ accessToken: token, ...expiry })).token.expose(), token);
  }
  t.equal(
    read(answer(`\ufeff  {"accessToken":"x","expires_in":1}\r\n`)).token.expose(),
    'x',
    'a byte order mark',
  );
});

t.test('a 200 without a usable token fails the login, and the message holds no part of it', async (t) => {
  const secret = 'SECRET';
  const unusable: readonly unknown[] = [
    '',
    `<html>${secret}</html>`,
    `{"accessToken":"${secret}"`,
    `{"accessToken":"${secret}"} x`,
    Buffer.from([0x7b, 0xff, 0x7d]),
    [{ accessToken: secret }],
    [],
    'null',
    'true',
    `"${secret}"`,
    '1',
    {},
    { token: secret },
    { AccessToken: secret },
    { accessToken: '' },
    { accessToken: { value: secret } },
    { accessToken: [secret] },
    { accessToken: 12_345 },
    ...['\r\nX: y', '\n', '\r', '\0', '\t', '\x7f', 'é', '\u00a0', '\u200b', '日', '\ud800'].map((odd) => ({
      accessToken: `${secret}${odd}${secret}`,
    })),
    ...[' ', '\n', '\ufeff'].flatMap((blank) => [
      { accessToken: blank },
      { accessToken: blank + secret },
      { accessToken: secret + blank },
    ]),
  ];
  for (const body of unusable) {
    const error = failure(body);
    t.match(error, { code: 'unusable', status: 200, cause: undefined }, JSON.stringify(body));
    t.notOk(error.message.includes(secret), error.message);
  }
});

t.test('a token that has expired on arrival fails the login', async (t) => {
  const dead: readonly Record<string, unknown>[] = [
    { expires_in: 0 },
    { expires_in: -1 },
    { expiresAt: '2026-01-02T03:04:05.000000' },
    { expiresAt: '2026-01-02T03:04:04.999999' },
    { expires_at: 0 },
  ];
  for (const fields of dead) {
    const error = failure({ accessToken: TOKEN, ...fields });
    t.match(error, { code: 'unusable', message: /expired when it arrived/ }, JSON.stringify(fields));
  }
  t.equal(
    failure({ accessToken: TOKEN, expires_in: 5 }, { elapsedMs: 5000 }).code,
    'unusable',
    'a slow answer',
  );
  t.equal(
    failure({ accessToken: TOKEN }, { elapsedMs: 900_000 }).code,
    'unusable',
    'a very slow answer without an expiry',
  );
});

t.test('an assumed or unreadable expiry gives a warning, without a byte of the answer', async (t) => {
  const { lifetimeMs, warnings } = read(answer({ accessToken: TOKEN, expiresAt: 'SECRET' }));
  t.equal(lifetimeMs, 900_000);
  t.equal(warnings.length, 2);
  t.match(warnings[0], /^expiresAt can't be read/);
  t.match(warnings[1], /15 minutes/);
  t.notOk(warnings.join().includes('SECRET'));
});

t.test('the Date of the server corrects our clock', async (t) => {
  const expiresAt = '2026-01-02T02:05:05.000000';
  t.equal(failure({ accessToken: TOKEN, expiresAt }).code, 'unusable', 'by our clock the token has expired');
  const headers = { date: 'Fri, 02 Jan 2026 02:04:05 GMT' };
  t.equal(read(answer({ accessToken: TOKEN, expiresAt }, { headers })).lifetimeMs, 60_000 - 999);
  const junk = { date: 'yesterday' };
  t.equal(
    failure({ accessToken: TOKEN, expiresAt }, { headers: junk }).code,
    'unusable',
    'an invalid Date does not correct the clock',
  );
});

t.test('only status 200 counts as a login, whatever the body says', async (t) => {
  const login = { accessToken: TOKEN, expires_in: 60 };
  const codes: Readonly<Record<number, LoginError['code']>> = {
    201: 'server-error',
    202: 'server-error',
    204: 'server-error',
    206: 'server-error',
    300: 'redirected',
    301: 'redirected',
    302: 'redirected',
    303: 'redirected',
    304: 'redirected',
    307: 'redirected',
    308: 'redirected',
    400: 'refused',
    401: 'refused',
    403: 'refused',
    404: 'server-error',
    405: 'server-error',
    407: 'server-error',
    408: 'server-error',
    422: 'server-error',
    429: 'rate-limited',
    500: 'server-error',
    502: 'server-error',
    503: 'server-error',
    504: 'server-error',
    599: 'server-error',
  };
  for (const [status, code] of Object.entries(codes)) {
    const error = failure(login, { status: Number(status) });
    t.match(error, { code, status: Number(status), message: new RegExp(`status ${status}`) }, status);
    t.notOk(error.message.includes(TOKEN));
  }
});

t.test('the error has the Retry-After of the answer', async (t) => {
  const retryAfter = (value: string, status = 429, date?: string) =>
    failure('', { status, headers: { retryAfter: value, date } });
  t.match(retryAfter('7'), { code: 'rate-limited', retryAfterMs: 7000 });
  t.match(retryAfter('7', 503), { code: 'rate-limited', retryAfterMs: 7000 });
  t.match(retryAfter('7', 401), { code: 'refused', retryAfterMs: 7000 });
  t.match(retryAfter('7', 502), { code: 'server-error', retryAfterMs: 7000 });
  t.match(retryAfter('1000000000'), { retryAfterMs: 1e12 }, 'the schedule applies the limit');
  t.match(retryAfter('Fri, 02 Jan 2026 03:04:15 GMT'), { retryAfterMs: 10_000 });
  t.match(retryAfter('Fri, 02 Jan 2026 03:00:00 GMT'), { retryAfterMs: 0 }, 'a date in the past');
  for (const junk of ['soon', '', '-1', '1e9', '1.5'])
    t.match(retryAfter(junk), { code: 'rate-limited', retryAfterMs: undefined });
  t.match(
    retryAfter('soon', 503),
    { code: 'server-error' },
    'a 503 without Retry-After is an ordinary failure',
  );
  const skewed = retryAfter('Fri, 02 Jan 2026 05:00:10 GMT', 429, 'Fri, 02 Jan 2026 05:00:00 GMT');
  t.match(skewed, { retryAfterMs: 10_000 }, "a date counts from the server's own");
});

t.test('the error says in words where a redirect leads, and shows no part of its Location', async (t) => {
  const words: Readonly<Record<string, string>> = {
    'https://SECRET.evil.test/a?code=SECRET#SECRET': 'another server',
    '//SECRET.evil.test:1/SECRET': 'another server',
    'https://ada:SECRET@login.example/x': 'another place on the same server',
    '/SECRET': 'another place on the same server',
    SECRET: 'another place on the same server',
    'https://login.example:8443/SECRET': 'another server',
    'http://login.example/SECRET': 'http:// without TLS',
    'http://[SECRET': 'no URL',
    'javascript:SECRET': 'no URL',
  };
  for (const [location, where] of Object.entries(words)) {
    const redirect = redirectTargetOf(location, 'https://login.example');
    const { message } = failure('', { status: 307, redirect });
    t.ok(message.endsWith(` (status 307, to ${where})`), message);
    t.notMatch(message, /SECRET|evil/);
  }
  t.equal(redirectTargetOf('http://127.0.0.1:1/x', 'http://127.0.0.1:2'), 'another-server');
  t.match(failure('', { status: 302 }).message, /to no URL/, 'without a Location');
});

t.test('an OAuth error decides, whatever the status, even beside a token', async (t) => {
  const token = { access_token: TOKEN, expires_in: 60 };
  for (const status of [200, 302, 307, 400, 401, 403, 404, 500, 502]) {
    for (const error of ['invalid_client', 'invalid_grant', 'unauthorized_client']) {
      for (const body of [{ error }, { error, ...token }]) {
        const told = failure(JSON.stringify(body), { status });
        t.match(told, { code: 'refused', status, message: new RegExp(`status ${status}, ${error}`) });
        t.match(told.remedy, /type: oauth2/, 'the remedy for an OAuth 2.0 endpoint is type: oauth2');
        t.notOk(told.message.includes(TOKEN));
      }
    }
  }
  const busy = JSON.stringify({ error: 'invalid_client' });
  t.match(failure(busy, { status: 429 }), { code: 'rate-limited' });
  t.match(failure(busy, { status: 503, headers: { retryAfter: '7' } }), { code: 'rate-limited' });
  t.match(failure(busy, { status: 503 }), { code: 'server-error' });
  t.match(failure(JSON.stringify({ error: 'temporarily_unavailable' })), {
    code: 'server-error',
    status: 200,
  });
  for (const error of ['', null, 0, false, {}, 'SECRET', 'Invalid_client']) {
    const issued = read(answer({ error, ...token }));
    t.equal(issued.token.expose(), TOKEN, `${JSON.stringify(error)} is none`);
    t.match(failure(JSON.stringify({ error })), { code: 'unusable' });
  }
});
