import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import type { LoginError } from '../../src/base/login-error.ts';
import { Secret } from '../../src/base/secret.ts';
import { VERSION } from '../../src/base/version.ts';
import type { OAuth2CredentialConfig } from '../../src/config/sections/credentials/oauth2.ts';
import { createOAuth2Login } from '../../src/login/oauth2-endpoint.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loginServer } from '../support/login-server.ts';
import { outcomeOf } from '../support/outcome.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

const PATH = '/oauth2/token?api-version=2';
const LOGIN = ok('{"access_token":"tok-1","token_type":"bearer","expires_in":60}');

/** The two ways to send a client secret. */
type SecretClient = Extract<OAuth2CredentialConfig, { readonly clientAuthentication: 'basic' | 'body' }>;

interface World {
  readonly client?: Partial<SecretClient>;
  readonly timeoutMs?: number;
  readonly clock?: FakeClock;
  readonly signal?: AbortSignal;
  readonly origin?: string;
}

type Script = RawUpstream['onRequest'];

/** One login at its own token endpoint, and the request that came. */
async function logIn(t: Test, script: Script, world: World = {}) {
  const endpoint = await RawUpstream.startedFor(t);
  endpoint.onRequest = script;
  const { origin = endpoint.url, clock = systemClock, timeoutMs = 10_000 } = world;
  const config: SecretClient = {
    kind: 'oauth2',
    name: 'partner',
    origins: [],
    header: 'Authorization',
    scheme: 'Bearer',
    tokenEndpoint: { origin, path: PATH },
    clientId: new Secret('id'),
    clientSecret: new Secret('secret'),
    clientAuthentication: 'basic',
    parameters: {},
    ...world.client,
  };
  const login = createOAuth2Login({ at: async (at) => loginServer(at), timeoutMs }, config, clock);
  const signal = world.signal ?? new AbortController().signal;
  const result = await outcomeOf(login(signal));
  return { result, endpoint };
}

/** Head and body of the request. */
async function sentBy(t: Test, client: Partial<SecretClient>) {
  const { result, endpoint } = await logIn(t, () => LOGIN, { client });
  t.match(result, { token: 'tok-1', warnings: [] });
  t.equal(endpoint.requests.length, 1);
  const { body } = await endpoint.last.message;
  return { head: endpoint.last.head, body: body.toString('latin1'), port: endpoint.port };
}

const WIRE_HEAD = (port: number, length: number, authorization = '') =>
  `POST ${PATH} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n` +
  `user-agent: bearerd/${VERSION}\r\naccept-encoding: identity\r\n` +
  'content-type: application/x-www-form-urlencoded\r\naccept: application/json\r\n' +
  `${authorization}content-length: ${length}\r\n\r\n`;

t.test('by default the client authenticates by Basic (compared byte for byte)', async (t) => {
  const { head, body, port } = await sentBy(t, {});
  t.equal(body, 'grant_type=client_credentials');
  t.equal(head, WIRE_HEAD(port, body.length, 'authorization: Basic aWQ6c2VjcmV0\r\n'));
});

t.test('client ID and secret are form-encoded for Basic (RFC 6749 §2.3.1)', async (t) => {
  const odd = { clientId: new Secret('a:b c+d'), clientSecret: new Secret('é/日&=%41"\\\n*~-._') };
  const { head } = await sentBy(t, odd);
  const basic = /authorization: Basic (\S+)\r\n/.exec(head)?.[1] ?? '';
  t.equal(
    Buffer.from(basic, 'base64').toString(),
    'a%3Ab+c%2Bd:%C3%A9%2F%E6%97%A5%26%3D%2541%22%5C%0A*%7E-._',
  );
});

t.test(
  'with clientAuthentication: body, client ID and secret are in the form, and in no header',
  async (t) => {
    const client = {
      clientAuthentication: 'body',
      clientId: new Secret('a:b c+d'),
      clientSecret: new Secret('é/日&=%41"\\\n'),
    } as const;
    const { head, body, port } = await sentBy(t, client);
    t.equal(
      body,
      'grant_type=client_credentials&client_id=a%3Ab+c%2Bd&client_secret=%C3%A9%2F%E6%97%A5%26%3D%2541%22%5C%0A',
    );
    t.equal(head, WIRE_HEAD(port, body.length));
  },
);

t.test('scope, audience and further parameters are in the form', async (t) => {
  const { body } = await sentBy(t, {
    scope: 'read write:all',
    audience: 'https://api.example.com/',
    parameters: { resource: new Secret('urn:x&y'), 'odd name': new Secret('1') },
  });
  t.equal(
    body,
    'grant_type=client_credentials&scope=read+write%3Aall&audience=https%3A%2F%2Fapi.example.com%2F' +
      '&resource=urn%3Ax%26y&odd+name=1',
  );
});

/** An error answer with this JSON or text. */
const refusal = (status: string, body: unknown, ...lines: string[]) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return head(status, `content-length: ${Buffer.byteLength(text)}`, ...lines) + text;
};

t.test('each error of the RFC has its class, and the message names it', async (t) => {
  const classes = {
    refused:
      'invalid_client unauthorized_client invalid_grant invalid_scope invalid_target unsupported_grant_type invalid_request access_denied',
    'server-error': 'temporarily_unavailable server_error slow_down',
  };
  for (const [code, errors] of Object.entries(classes)) {
    for (const error of errors.split(' ')) {
      const answer = { error, error_description: 'SECRET', error_uri: 'https://SECRET' };
      const { result } = await logIn(t, () => refusal('400 Bad Request', answer));
      t.match(result, { code, status: 400, message: new RegExp(`\\(status 400, ${error}\\)\\. `) }, error);
      t.notMatch((result as LoginError).message, /SECRET/, 'error_description is not shown');
    }
  }
});

t.test('without a known error the status decides, and no part of the answer is shown', async (t) => {
  const bodies = {
    nothing: '',
    text: 'invalid_client SECRET',
    'another error': { error: 'SECRET' },
    'an error that is no text': { error: ['invalid_client'] },
    'a list': ['invalid_client'],
    'the name of a method': { error: 'constructor' },
    'a long body': `{"error":"slow_down","x":"${'x'.repeat(65_536)}"}`,
  };
  const classes = {
    '400 Bad Request': 'refused',
    '401 Unauthorized': 'refused',
    '403 Forbidden': 'refused',
    '201 Created': 'server-error',
    '404 Not Found': 'server-error',
    '500 Oh': 'server-error',
    '503 Later': 'server-error',
  };
  for (const [status, code] of Object.entries(classes)) {
    for (const [name, body] of Object.entries(bodies)) {
      const { result } = await logIn(t, () => refusal(status, body));
      const number = Number.parseInt(status, 10);
      t.match(result, { code, status: number }, `${status}, ${name}`);
      t.match(
        (result as LoginError).message,
        new RegExp(`^the token endpoint http://[\\d.:]+/oauth2/token [\\w ]+\\(status ${number}\\)\\. `),
      );
    }
  }
});

t.test('a known error decides, whatever the status', async (t) => {
  const { result: odd } = await logIn(t, () => refusal('500 Oh', { error: 'invalid_client' }));
  t.match(odd, { code: 'refused', status: 500 });
  const { result: busy } = await logIn(t, () => refusal('403 No', { error: 'temporarily_unavailable' }));
  t.match(busy, { code: 'server-error', status: 403 });
});

t.test('429, and 503 with Retry-After, delay the next login', async (t) => {
  const { result: plain } = await logIn(t, () => refusal('429 Wait', { error: 'invalid_client' }));
  t.match(plain, { code: 'rate-limited', status: 429, retryAfterMs: undefined });
  const { result: timed } = await logIn(t, () => refusal('429 Wait', '', 'retry-after: 7'));
  t.match(timed, { code: 'rate-limited', retryAfterMs: 7000 });
  const { result: later } = await logIn(t, () => refusal('503 Wait', '', 'retry-after: 9'));
  t.match(later, { code: 'rate-limited', status: 503, retryAfterMs: 9000 });
  const { result: slow } = await logIn(t, () => refusal('400 No', { error: 'slow_down' }, 'retry-after: 5'));
  t.match(slow, { code: 'server-error', retryAfterMs: 5000 }, 'Retry-After of any other answer counts, too');
});

t.test('a redirect of a login is not followed: no other server gets the client secret', async (t) => {
  const other = await RawUpstream.startedFor(t);
  for (const status of [301, 302, 303, 307, 308]) {
    const answer = head(`${status} Elsewhere`, `location: ${other.url}/SECRET`, 'content-length: 0');
    const { result, endpoint } = await logIn(t, () => answer);
    t.match(result, { code: 'redirected', status });
    t.notMatch((result as LoginError).message, /SECRET/);
    t.equal(endpoint.requests.length, 1);
  }
  t.equal(other.connections.length, 0);
});

t.test('a 200 without a usable token fails the login, and no part of it is shown', async (t) => {
  const bodies = [
    '',
    'SECRET',
    '[]',
    '"SECRET"',
    '{"access_token":"SECRET"',
    '{}',
    '{"error":"SECRET"}',
    '{"access_token":""}',
    '{"access_token":7}',
    '{"access_token":"SECRET\\nx"}',
    '{"access_token":"SECRETé","expires_in":60}',
    '{"access_token":"SECRET","expires_in":0}',
    Buffer.from('7b22616363657373ff', 'hex'),
  ];
  for (const body of bodies) {
    const { result } = await logIn(t, () => ok(body));
    t.match(result, { code: 'unusable', status: 200 }, String(body));
    t.notMatch((result as LoginError).message, /SECRET/);
  }
});

t.test('the token is access_token, and expires_in counts from the sending of the request', async (t) => {
  const clock = new FakeClock();
  const script = async () => {
    await clock.advance(6000);
    return LOGIN;
  };
  t.match((await logIn(t, script, { clock })).result, { token: 'tok-1', lifetimeMs: 54_000, warnings: [] });
  const { result } = await logIn(t, () => ok('{"access_token":"tok-1"}'));
  t.match(result, { token: 'tok-1', warnings: [/no expiry/] });
});

t.test('a token_type other than Bearer gives a warning if the token is sent as Bearer', async (t) => {
  const typed = (type: string) => () => ok(`{"access_token":"tok-1","expires_in":60,"token_type":${type}}`);
  for (const type of ['"Bearer"', '"BEARER"', 'null', '7'])
    t.match((await logIn(t, typed(type))).result, { token: 'tok-1', warnings: [] }, type);
  const mac = typed('"SECRET mac"');
  const { result } = await logIn(t, mac);
  t.match(result, {
    token: 'tok-1',
    warnings: ['token_type is not Bearer, and the token is sent with Bearer all the same'],
  });
  for (const scheme of ['', 'MAC'])
    t.match((await logIn(t, mac, { client: { scheme } })).result, { warnings: [] }, scheme);
});

t.test('an answer may have at most 64 KiB', async (t) => {
  const padded = (size: number) => ok('{"access_token":"tok-1","expires_in":60}'.padEnd(size));
  t.match((await logIn(t, () => padded(65_536))).result, { token: 'tok-1' });
  const { result, endpoint } = await logIn(t, ({ connection }) => {
    connection.send(head('200 OK', 'content-length: 50000000')).send(Buffer.alloc(200_000, 0x20));
  });
  t.match(result, { code: 'unusable', message: /larger than 64 KiB/ });
  await endpoint.connections[0]?.closed;
  t.pass('the rest of a longer answer is not read');
});

t.test('a login has a time limit, from its start to the last byte', async (t) => {
  const stalls: Readonly<Record<string, Script>> = {
    'no answer at all': () => undefined,
    'a head and no body': () => head('200 OK', 'content-length: 40'),
    'a body in drips': ({ connection }) => {
      connection.send(head('200 OK', 'content-length: 1000'));
      const timer = setInterval(() => connection.send(' '), 20);
      connection.socket.once('close', () => clearInterval(timer));
    },
  };
  for (const [name, script] of Object.entries(stalls)) {
    const { result, endpoint } = await logIn(t, script, { timeoutMs: 1_000 });
    t.match(
      result,
      { code: 'unreachable', message: /gives no complete answer in time \(within 1 s\)/ },
      name,
    );
    await endpoint.connections[0]?.closed;
  }
  const { result, endpoint } = await logIn(t, () => head('401 No', 'content-length: 40'), {
    timeoutMs: 1_000,
  });
  t.match(result, { code: 'refused', status: 401 }, 'a refusal without its whole body is a refusal');
  await endpoint.connections[0]?.closed;
});

t.test('a login fails if a file that it reads does not come in time', async (t) => {
  const path = join(t.testdir({}), 'pipe');
  t.equal(spawnSync('mkfifo', [path]).status, 0);
  const writer = openSync(path, constants.O_RDWR); // It never writes.
  const exchange = { subjectToken: { path, shown: 'pipe' }, subjectTokenType: 'jwt' };
  const { result, endpoint } = await logIn(t, () => LOGIN, { client: { exchange }, timeoutMs: 100 });
  const message = "the subject token can't be read from pipe: its content did not come in time";
  t.match(result, { code: 'unreachable', message });
  t.equal(endpoint.requests.length, 0);
  closeSync(writer);
});

t.test('an endpoint that refuses or breaks the connection is unreachable', async (t) => {
  const { result: closed } = await logIn(t, () => LOGIN, { origin: 'http://127.0.0.1:1' });
  t.match(closed, {
    code: 'unreachable',
    message:
      /^the token endpoint http:\/\/127\.0\.0\.1:1\/oauth2\/token can't be reached: nothing listens .*\(ECONNREFUSED\)\. Check/,
  });
  const { result: reset } = await logIn(t, ({ connection }) => connection.reset());
  t.match(reset, { code: 'unreachable' });
  const { result: half } = await logIn(t, ({ connection }) => {
    connection.send(`${head('200 OK', 'content-length: 40')}{"access_token":"SECRET"`).end();
  });
  t.match(half, { code: 'unreachable', message: /closed the connection before its answer was complete/ });
  const { result: noHttp } = await logIn(t, () => 'SSH-2.0-SECRET\r\n');
  t.match(noHttp, { code: 'unreachable', message: /sent something that is not valid HTTP/ });
  t.notMatch((noHttp as LoginError).message, /SECRET/);
});

t.test('a cancelled login closes its connection', async (t) => {
  const abort = new AbortController();
  const { result, endpoint } = await logIn(t, () => abort.abort(), { signal: abort.signal });
  t.match(result, { code: 'unreachable' });
  await endpoint.connections[0]?.closed;
});
