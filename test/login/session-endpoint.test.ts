import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import type { LoginError } from '../../src/base/login-error.ts';
import { Secret } from '../../src/base/secret.ts';
import { VERSION } from '../../src/base/version.ts';
import type { SessionGrant } from '../../src/config/sections/credentials/session.ts';
import { createSessionLogin } from '../../src/login/session-endpoint.ts';
import { FakeClock } from '../support/fake-clock.ts';
import type { HttpMessage } from '../support/http-message.ts';
import { later } from '../support/later.ts';
import { loginServer } from '../support/login-server.ts';
import { outcomeOf } from '../support/outcome.ts';
import { PATIENCE_MS, within } from '../support/raw-client.ts';
import { head, ok, RawUpstream, type UpstreamRequest } from '../support/raw-upstream.ts';

const PATH = '/base/login';
const LOGIN = ok('{"accessToken":"tok-1","expires_in":60}');

const serviceAccount = (clientId = 'sa-1', clientSecret = 'cs-1'): SessionGrant => ({
  kind: 'service-account',
  clientId: new Secret(clientId),
  clientSecret: new Secret(clientSecret),
});

const user = (username: string, password: string): SessionGrant => ({
  kind: 'user',
  username: new Secret(username),
  password: new Secret(password),
});

interface World {
  readonly grant?: SessionGrant;
  readonly timeoutMs?: number;
  readonly clock?: FakeClock;
  readonly signal?: AbortSignal;
  readonly origin?: string;
}

type Script = RawUpstream['onRequest'];

/** One login at its own endpoint, and the request that came. */
async function logIn(t: Test, script: Script, world: World = {}) {
  const endpoint = await RawUpstream.startedFor(t);
  endpoint.onRequest = script;
  const origin = world.origin ?? endpoint.url;
  const { grant = serviceAccount(), clock = systemClock, signal = new AbortController().signal } = world;
  const { timeoutMs } = world;
  const place = {
    server: loginServer(origin),
    path: PATH,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const result = await outcomeOf(createSessionLogin(place, grant, clock)(signal));
  return { result, endpoint };
}

async function sentBy(
  t: Test,
  grant: SessionGrant,
): Promise<{ request: UpstreamRequest; message: HttpMessage }> {
  const { result, endpoint } = await logIn(t, () => LOGIN, { grant });
  t.match(result, { token: 'tok-1', lifetimeMs: Number, warnings: [] });
  t.equal(endpoint.requests.length, 1);
  return { request: endpoint.last, message: await endpoint.last.message };
}

/** The head of the request, byte for byte. */
const WIRE_HEAD = (port: number, contentType: string, length: number) =>
  `POST ${PATH} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n` +
  `user-agent: bearerd/${VERSION}\r\naccept-encoding: identity\r\ncontent-type: ${contentType}\r\n` +
  `accept: application/json\r\ncontent-length: ${length}\r\n\r\n`;

t.test('a service account logs in with JSON, byte for byte', async (t) => {
  const { request, message } = await sentBy(t, serviceAccount('sa-"1"\\', 'é/日\u2028 \'"\\\n&%'));
  const body =
    '{"grantType":"clientCredentials","clientId":"sa-\\"1\\"\\\\","clientSecret":"é/日\u2028 \'\\"\\\\\\n&%"}';
  t.equal(message.body.toString('utf8'), body);
  const port = Number(request.header('host')?.split(':')[1]);
  t.equal(request.head, WIRE_HEAD(port, 'application/json', Buffer.byteLength(body)));
});

t.test('a user logs in with a form, byte for byte', async (t) => {
  const { request, message } = await sentBy(t, user('ada+1@example.com', 'p&w=1%41 é\\"日'));
  const body = 'username=ada%2B1%40example.com&password=p%26w%3D1%2541+%C3%A9%5C%22%E6%97%A5';
  t.equal(message.body.toString('latin1'), body);
  const port = Number(request.header('host')?.split(':')[1]);
  t.equal(request.head, WIRE_HEAD(port, 'application/x-www-form-urlencoded', body.length));
  const form = new URLSearchParams(body);
  t.same(
    [...form],
    [
      ['username', 'ada+1@example.com'],
      ['password', 'p&w=1%41 é\\"日'],
    ],
  );
});

t.test('a redirect of a login is not followed: no other server gets the credentials', async (t) => {
  const other = await RawUpstream.startedFor(t);
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `location: ${other.url}/SECRET?x=SECRET`;
    const { result, endpoint } = await logIn(t, () =>
      head(`${status} Elsewhere`, location, 'content-length: 0'),
    );
    t.match(result, { code: 'redirected', status });
    t.match(result, { message: /to another server/ }, 'the error says that the redirect leads elsewhere');
    t.notMatch((result as LoginError).message, new RegExp(`SECRET|:${other.port}`));
    t.equal(endpoint.requests.length, 1);
  }
  t.equal(other.connections.length, 0);
});

t.test('an answer may have at most 64 KiB', async (t) => {
  const padded = (size: number) => `{"accessToken":"tok-1","expires_in":60}`.padEnd(size);
  const framings: Readonly<Record<string, (body: string) => string | Buffer>> = {
    'with a length': (body) => ok(body),
    'in chunks': (body) =>
      `${head('200 OK', 'transfer-encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  };
  for (const [name, frame] of Object.entries(framings)) {
    const { result: whole } = await logIn(t, () => frame(padded(65_536)));
    t.match(whole, { token: 'tok-1' }, `${name}: 64 KiB`);
    const { result: over } = await logIn(t, () => frame(padded(65_537)));
    t.match(over, { code: 'unusable', status: 200, message: /larger than 64 KiB/ }, `${name}: one byte more`);
  }
});

t.test('an endless answer is cut off as soon as it is too long', async (t) => {
  const { result, endpoint } = await logIn(t, ({ connection }) => {
    connection.send(head('200 OK', 'content-type: application/json'));
    const chunk = Buffer.alloc(16_384, 0x20);
    const pump = () => {
      while (!connection.isClosed && connection.socket.write(chunk));
    };
    connection.socket.on('drain', pump);
    pump();
  });
  t.match(result, { code: 'unusable', message: /larger than 64 KiB/ });
  await endpoint.connections[0]?.closed;
  t.pass('the connection is closed');
});

t.test('a login has a time limit, from its start to the last byte', async (t) => {
  const timeoutMs = 1_000; // It is connected sooner on any machine.
  const stalls: Readonly<Record<string, Script>> = {
    'no answer at all': () => undefined,
    'half a head': ({ connection }) => connection.send('HTTP/1.1 200 OK\r\ncontent-le') && undefined,
    'a head and no body': () => head('200 OK', 'content-length: 40'),
    'a body in drips': ({ connection }) => {
      connection.send(head('200 OK', 'content-length: 1000'));
      const timer = setInterval(() => connection.send(' '), 20);
      connection.socket.once('close', () => clearInterval(timer));
    },
  };
  for (const [name, script] of Object.entries(stalls)) {
    const start = performance.now();
    const { result, endpoint } = await logIn(t, script, { timeoutMs });
    t.match(
      result,
      { code: 'unreachable', message: /gives no complete answer in time \(within 1 s\)/ },
      name,
    );
    t.ok(performance.now() - start >= timeoutMs - 10, `${name}: not before the limit`);
    await endpoint.connections[0]?.closed;
    t.pass(`${name}: the connection is closed`);
  }
});

t.test('a connection that breaks fails the login, with a reason and no byte of the answer', async (t) => {
  const breaks: Readonly<Record<string, Script>> = {
    'a reset at once': ({ connection }) => connection.reset(),
    'an end at once': ({ connection }) => connection.end(),
    'a reset in the body': ({ connection }) => {
      connection.send(`${head('200 OK', 'content-length: 40')}{"accessToken":"SECRET"`);
      later(20, () => connection.reset());
    },
    'half a body': ({ connection }) => {
      connection.send(`${head('200 OK', 'content-length: 40')}{"accessToken":"SECRET"`).end();
    },
    'half a chunk': ({ connection }) => {
      connection.send(`${head('200 OK', 'transfer-encoding: chunked')}28\r\n{"accessToken":"SECRET"`).end();
    },
    'something else than HTTP': () => 'SSH-2.0-SECRET\r\n',
    'a status that is none': () => 'HTTP/1.1 SECRET OK\r\n\r\n',
  };
  for (const [name, script] of Object.entries(breaks)) {
    const { result } = await logIn(t, script);
    t.match(
      result,
      { code: 'unreachable', message: /^the session endpoint \S+ (?:closed|sent) [^(]+\([A-Z_a-z]+\)\. / },
      name,
    );
    t.notMatch((result as LoginError).message, /SECRET/);
  }
  const half = `${head('200 OK', 'connection: close')}{"accessToken":"SECRET"`;
  const { result } = await logIn(t, ({ connection }) => connection.send(half).end());
  t.match(result, { code: 'unusable', message: /not JSON/ }, 'half of a body without a length');
});

t.test('an endpoint that refuses connections fails the login', async (t) => {
  const { result: closed } = await logIn(t, () => LOGIN, { origin: 'http://127.0.0.1:1' });
  t.match(closed, { code: 'unreachable', message: /ECONNREFUSED/ });
  const { result: unknown } = await logIn(t, () => LOGIN, { origin: 'http://nobody.invalid' });
  t.match(unknown, { code: 'unreachable', message: /ENOTFOUND|EAI_AGAIN/ });
  const { message } = unknown as LoginError;
  t.match(
    message,
    /^the session endpoint http:\/\/nobody\.invalid\/base\/login can't be reached: its host name/,
  );
  t.notMatch(message, /getaddrinfo/, "it is made of a code, not of the library's text");
});

t.test('an OAuth error in the body of a failure gives the remedy to use type: oauth2', async (t) => {
  const body = '{"error":"invalid_client","error_description":"SECRET"}';
  for (const status of ['401 No', '400 Bad', '404 Not Found', '200 OK']) {
    const { result, endpoint } = await logIn(t, () => head(status, `content-length: ${body.length}`) + body);
    t.match(result, {
      code: 'refused',
      message: /invalid_client\)\. Check .* type: oauth2 .* init --account oauth2/,
    });
    t.notMatch((result as LoginError).message, /SECRET/);
    t.equal(endpoint.requests.length, 1);
  }
});

t.test('a failed login ends soon even if its body never ends', async (t) => {
  const login = logIn(t, () => head('401 No', 'content-length: 40'), { timeoutMs: 2 * PATIENCE_MS });
  const { result } = await within(PATIENCE_MS, login, () => 'the login waits for the end of the body');
  t.match(result, { code: 'refused', status: 401 });
});

t.test('the body of a failure is ignored if it is too long', async (t) => {
  for (const [status, code] of [
    ['401 No', 'refused'],
    ['500 Oh', 'server-error'],
    ['429 Wait', 'rate-limited'],
  ] as const) {
    const { result, endpoint } = await logIn(t, ({ connection }) => {
      connection.send(head(status, 'content-length: 50000000')).send(Buffer.alloc(200_000));
    });
    t.match(result, { code });
    await endpoint.connections[0]?.closed;
    t.pass('the body is not read to its end');
  }
});

t.test('Retry-After of the endpoint is part of the error', async (t) => {
  const { result } = await logIn(t, () =>
    head('429 Wait', 'retry-after: 7', 'retry-after: 9', 'content-length: 0'),
  );
  t.match(result, { code: 'rate-limited', status: 429, retryAfterMs: 7000 });
});

t.test('1xx answers are skipped', async (t) => {
  const { result } = await logIn(t, () =>
    Buffer.concat([Buffer.from(head('103 Early Hints', 'link: <x>')), LOGIN]),
  );
  t.match(result, { token: 'tok-1' });
});

t.test('expires_in counts from the sending of the request, on the clock that advanced further', async (t) => {
  for (const [name, pass, lifetimeMs] of [
    ['a slow answer', (clock: FakeClock) => clock.advance(6000), 54_000],
    ['a machine that slept', (clock: FakeClock) => clock.suspend(45_000), 15_000],
    ['a clock set back', (clock: FakeClock) => clock.stepWall(-3_600_000), 60_000],
  ] as const) {
    const clock = new FakeClock();
    const script = async () => {
      await pass(clock);
      return LOGIN;
    };
    const { result } = await logIn(t, script, { clock });
    t.match(result, { token: 'tok-1', lifetimeMs }, name);
  }
});

t.test('a cancelled login closes its connection', async (t) => {
  const abort = new AbortController();
  const { result, endpoint } = await logIn(t, () => abort.abort(), { signal: abort.signal });
  t.match(result, { code: 'unreachable' });
  await endpoint.connections[0]?.closed;
  const { result: never, endpoint: untouched } = await logIn(t, () => LOGIN, { signal: AbortSignal.abort() });
  t.match(never, { code: 'unreachable' });
  t.equal(untouched.connections.length, 0, 'a login that is already cancelled opens no connection');
});
