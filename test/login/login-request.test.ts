import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { LoginError } from '../../src/base/login-error.ts';
import { Secret } from '../../src/base/secret.ts';
import type { Login } from '../../src/login/http-login.ts';
import type { LoginEndpoint } from '../../src/login/login-request.ts';
import { answerOf, type LoginServer } from '../../src/login/login-server.ts';
import { createOAuth2Login } from '../../src/login/oauth2-endpoint.ts';
import { createSessionLogin } from '../../src/login/session-endpoint.ts';
import { loginServer } from '../support/login-server.ts';
import { outcomeOf, settled } from '../support/outcome.ts';
import { until } from '../support/raw-client.ts';
import { head, ok, RawUpstream, type UpstreamRequest } from '../support/raw-upstream.ts';

// What all logins by HTTP share: sending the request and reading the answer.

const clientId = new Secret('id');
const clientSecret = new Secret('secret');

const KINDS: Readonly<Record<string, (endpoint: LoginEndpoint) => Login>> = {
  session: (endpoint) =>
    createSessionLogin(endpoint, { kind: 'service-account', clientId, clientSecret }, systemClock),
  oauth2: (endpoint) =>
    createOAuth2Login(
      {
        at: async () => endpoint.server,
        ...(endpoint.timeoutMs !== undefined && { timeoutMs: endpoint.timeoutMs }),
      },
      {
        kind: 'oauth2',
        name: 'partner',
        origins: [],
        header: 'Authorization',
        scheme: 'Bearer',
        tokenEndpoint: { origin: 'http://unused', path: '/login' },
        clientId,
        clientSecret,
        clientAuthentication: 'basic',
        parameters: {},
      },
      systemClock,
    ),
};

const TOKEN = '{"accessToken":"tok-1","expires_in":60}';
const LOGIN = ok(TOKEN);

/** One login of this kind, and its request. */
async function logIn(t: Test, kind: string, answer: string | Buffer) {
  const endpoint = await RawUpstream.startedFor(t);
  endpoint.onRequest = () => answer;
  const place = { server: loginServer(endpoint.url), path: '/login', timeoutMs: 10_000 };
  const result = await outcomeOf(KINDS[kind]!(place)(new AbortController().signal));
  return { result, request: endpoint.last as UpstreamRequest };
}

for (const kind of Object.keys(KINDS)) {
  t.test(`a login (${kind}) has bearerd as User-Agent, and asks for no content coding`, async (t) => {
    const { request } = await logIn(t, kind, LOGIN);
    t.match(request.all('user-agent').join(), /^bearerd\/\d+\.\d+\.\d+\S*$/);
    t.same(request.all('accept-encoding'), ['identity']);
  });

  t.test(`a cancelled login (${kind}) opens no connection`, async (t) => {
    let connecting: AbortSignal | undefined;
    const connect: LoginServer['connect'] = (_callback, signal) => {
      connecting = signal;
    };
    const abort = new AbortController();
    const place = {
      server: { origin: 'http://x', host: 'x', headerSizeBytes: 1000, connect },
      path: '/login',
    };
    const outcome = outcomeOf(KINDS[kind]!(place)(abort.signal));
    await until(() => connecting !== undefined, 'it connects');
    t.equal(connecting?.aborted, false);
    abort.abort();
    t.match(await outcome, { code: 'unreachable' });
    t.equal(connecting?.aborted, true);
  });

  t.test(`a 1xx before the answer to a login (${kind}) is skipped`, async (t) => {
    const informational = {
      'a 100': 'HTTP/1.1 100 Continue\r\n\r\n',
      'a 102': 'HTTP/1.1 102 Processing\r\n\r\n',
      'a 103': 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n',
      'several of them': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    };
    for (const [name, lines] of Object.entries(informational)) {
      const { result } = await logIn(t, kind, Buffer.concat([Buffer.from(lines), LOGIN]));
      t.match(result, { token: 'tok-1' }, name);
    }
    const { result } = await logIn(
      t,
      kind,
      `HTTP/1.1 100 Continue\r\n\r\n${head('401 No', 'content-length: 0')}`,
    );
    t.match(result, { code: 'refused', status: 401 }, 'the final status counts');
  });

  t.test(`a 101 in answer to a login (${kind}) fails it at once, with that status`, async (t) => {
    const upgrade = ['connection: upgrade', 'upgrade: x'];
    const switched = {
      'to a protocol': head('101 Switching Protocols', ...upgrade),
      'with bytes of that protocol': `${head('101 Switching Protocols', ...upgrade)}canary`,
      'with a length': `${head('101 Switching Protocols', ...upgrade, 'content-length: 6')}canary`,
      'to none': head('101 Switching Protocols'),
      'behind a 100': `HTTP/1.1 100 Continue\r\n\r\n${head('101 Switching Protocols', ...upgrade)}`,
    };
    for (const [name, answer] of Object.entries(switched)) {
      const { result } = await logIn(t, kind, answer);
      t.match(result, { code: 'server-error', status: 101, message: /\(status 101\)\. The fault is/ }, name);
      t.notMatch((result as LoginError).message, /canary/);
    }
  });

  t.test(`an answer to a login (${kind}) with a content coding is decoded`, async (t) => {
    const text = Buffer.from(TOKEN);
    const coded: [codings: string, body: Buffer][] = [
      ['gzip', gzipSync(text)],
      ['x-gzip', gzipSync(text)],
      ['GZip', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['br', brotliCompressSync(text)],
      ['identity', text],
      ['', text],
      ['gzip, br', brotliCompressSync(gzipSync(text))],
      ['deflate,identity , gzip', gzipSync(deflateSync(text))],
    ];
    for (const [codings, body] of coded) {
      const { result } = await logIn(t, kind, ok(body, `content-encoding: ${codings}`));
      t.match(result, { token: 'tok-1' }, codings);
    }
    const lines = ['content-encoding: gzip', 'content-encoding: br'];
    const { result } = await logIn(t, kind, ok(brotliCompressSync(gzipSync(text)), ...lines));
    t.match(result, { token: 'tok-1' }, 'two Content-Encoding lines');
  });

  t.test(`decoding an answer to a login (${kind}) stops at 64 KiB`, async (t) => {
    const bomb = Buffer.alloc(20 * 1024 * 1024, 0x20);
    const bombs: [codings: string, body: Buffer][] = [
      ['gzip', gzipSync(bomb)],
      ['deflate', deflateSync(bomb)],
      ['deflate', deflateRawSync(bomb)],
      ['br', brotliCompressSync(bomb)],
      ['gzip, gzip', gzipSync(gzipSync(bomb))],
    ];
    for (const [codings, body] of bombs) {
      const { result } = await logIn(t, kind, ok(body, `content-encoding: ${codings}`));
      t.match(
        result,
        { code: 'unusable', message: /larger than 64 KiB/ },
        `${codings}, ${body.length} bytes`,
      );
    }
    const whole = gzipSync(TOKEN.padEnd(65_536));
    t.match((await logIn(t, kind, ok(whole, 'content-encoding: gzip'))).result, { token: 'tok-1' });
    const over = gzipSync(TOKEN.padEnd(65_537));
    t.match((await logIn(t, kind, ok(over, 'content-encoding: gzip'))).result, { code: 'unusable' });
  });

  t.test(
    `an answer to a login (${kind}) that cannot be decoded fails the login, and no part of it is shown`,
    async (t) => {
      const text = Buffer.from(TOKEN);
      const broken: [codings: string, body: Buffer][] = [
        ['gzip', gzipSync(text).subarray(0, 30)],
        ['gzip', text],
        ['br', text],
        ['SECRET', text],
        ['gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzipSync(text))))],
      ];
      for (const [codings, body] of broken) {
        const { result } = await logIn(t, kind, ok(body, `content-encoding: ${codings}`));
        t.match(result, { code: 'unusable', status: 200, message: /content coding can't be read/ }, codings);
        t.ok(result instanceof LoginError && !/SECRET|tok-1/.test(result.message));
      }
      const { result } = await logIn(t, kind, ok('', 'content-encoding: gzip'));
      t.match(result, { code: 'unusable', message: /not JSON/ }, 'an empty body is not decoded');
    },
  );
}

t.test('the OAuth error in a refusal with a content coding is read', async (t) => {
  const body = gzipSync('{"error":"invalid_client"}');
  const lines = [`content-length: ${body.length}`, 'content-encoding: gzip'];
  const refusal = Buffer.concat([Buffer.from(head('500 Oh', ...lines)), body]);
  const { result } = await logIn(t, 'oauth2', refusal);
  t.match(result, { code: 'refused', status: 500, message: /invalid_client/ });
});

t.test('a request that ends without an answer and without an error fails', async (t) => {
  const endpoint = await RawUpstream.startedFor(t);
  endpoint.onRequest = () => ok('');
  const steps = { connected: false, answered: false };
  // Node has an event of its own for the answer to a CONNECT.
  const question = { method: 'CONNECT', path: 'a.example:1', headers: [] };
  const signal = new AbortController().signal;
  const outcome = answerOf(loginServer(endpoint.url), question, steps, signal);
  t.match(await settled(outcome), { code: 'ECONNRESET' });
  t.same(steps, { connected: true, answered: false });
});
