import { format, inspect } from 'node:util';
import t, { type Test } from 'tap';
import { loginFor, logsIn } from '../../src/app/logins.ts';
import { Sources } from '../../src/app/sources.ts';
import { systemClock } from '../../src/base/clock.ts';
import { LoginError } from '../../src/base/login-error.ts';
import { Problem } from '../../src/base/problem.ts';
import { Secret } from '../../src/base/secret.ts';
import { createAccessToken } from '../../src/login/access-token.ts';
import { createRoutes } from '../../src/routes/routes-by-host.ts';
import { UpstreamPools } from '../../src/upstream/pools.ts';
import { canary, leaks } from '../fuzz/canaries.ts';
import { configOf, gatewayFor } from '../support/gateway.ts';
import { later } from '../support/later.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

// An object that holds a secret, a key or a token may get into a log line, an error page or a debugger's output. No
// way of turning an object into text may show the secret.

const TOKEN = canary('.token');
const YAML = `
credentials:
  key: { type: apiKey, key: '${canary('key')}' }
  bare: { type: apiKey, key: '${canary('bare')}', header: X-Key, scheme: '' }
  user: { type: session, username: '${canary('user')}', password: '${canary('word')}' }
  partner:
    type: oauth2
    tokenUrl: http://127.0.0.1:1/token
    clientId: '${canary('client')}'
    clientSecret: '${canary('client secret')}'
    parameters: { resource: '${canary('parameter')}' }
routes:
  - { prefix: /, credential: token }
  - { prefix: /key, credential: key }
  - { prefix: /bare, credential: bare }
`;
const ENV = {
  BEARERD_CLIENT_ID: canary('id'),
  BEARERD_CLIENT_SECRET: canary('secret'),
  BEARERD_CALLER_KEY: canary('caller'),
  HTTPS_PROXY: `http://user:${canary('proxy')}@proxy.example:3128`,
  HTTP_PROXY: `http://${canary('name')}@proxy.example:3128`,
};
const WAYS: Readonly<Record<string, (object: unknown) => string>> = {
  'util.inspect': (object) =>
    inspect(object, { depth: 30, showHidden: true, getters: true, showProxy: true }),
  'JSON.stringify': json,
  'console.log': (object) => format('%s %o %O %j', object, object, object, json(object)),
  'a template': (object) => `${object}`,
  'a stack': (object) => (object instanceof Error ? `${object.stack} ${object.message}` : ''),
};

/** Leaves out circular references. */
function json(object: unknown): string {
  const seen = new Set<unknown>();
  return JSON.stringify(object, function (this: Record<string, unknown>, key, value: unknown) {
    if (Buffer.isBuffer(this[key])) return this[key].toString('latin1');
    if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? `${value}` : value;
    if (seen.has(value)) return undefined;
    seen.add(value);
    if (value instanceof Map || value instanceof Set) return [...value];
    return value instanceof Error ? { ...value, cause: value.cause, message: value.message } : value;
  });
}

function keepsIt(t: Test, name: string, object: unknown): void {
  for (const [way, show] of Object.entries(WAYS))
    t.notOk(leaks(bytesJoined(show(object))), `${name} by ${way}`);
}

/** Joins hexadecimal bytes: `<Buffer 4b 61 6e>`. */
function bytesJoined(text: string): string {
  return text.replace(/(?<=\b[0-9a-f]{2}) (?=[0-9a-f]{2}\b)/g, '');
}

t.test('each of these ways shows an unprotected secret', async (t) => {
  for (const [way, show] of Object.entries(WAYS)) {
    t.ok(leaks(show(way === 'a template' ? TOKEN : new Error(TOKEN, { cause: { deep: { TOKEN } } }))), way);
  }
  const bytes = { deep: Buffer.from(TOKEN) };
  for (const way of ['util.inspect', 'JSON.stringify', 'console.log'] as const) {
    t.ok(leaks(bytesJoined(WAYS[way]!(bytes))), `${way}, as bytes`);
  }
});

t.test('no configuration, route, credential or token source shows its secrets', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const config = await configOf({ baseUrl: upstream.url, yaml: YAML, env: ENV });
  const pools = new UpstreamPools(config);
  const sources = new Sources({ clock: systemClock, observe: () => {} });
  t.teardown(() => Promise.all([sources.abort(), pools.destroy()]));
  const { credentials, commit } = sources.prepare(config, undefined, pools);
  commit();
  const place = { ...config.upstream, path: config.sessionPath };
  const { routes } = createRoutes(config, credentials, [place]);
  t.equal(routes.length, 3);
  t.equal(credentials.size, 5);
  for (const [name, object] of Object.entries({ config, credentials, routes, sources, pools })) {
    keepsIt(t, name, object);
  }
  for (const credential of config.credentials.values()) keepsIt(t, credential.name, credential);
});

t.test('neither a token nor a gateway that holds one shows the token', async (t) => {
  const token = createAccessToken(new Secret(TOKEN), 'Bearer', 60_000, systemClock);
  t.equal(token.headerValue.expose(), `Bearer ${TOKEN}`);
  keepsIt(t, 'token', token);
  keepsIt(t, 'a copy of it', { ...token });

  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = () => ok(`{"accessToken":"${TOKEN}","expires_in":60}`);
  const { gateway, events, get } = await gatewayFor(t, { baseUrl: upstream.url });
  t.equal((await get('/x')).status, 200);
  t.equal(upstream.last.header('authorization'), `Bearer ${TOKEN}`);
  keepsIt(t, 'gateway', gateway);
  keepsIt(t, 'status', gateway.status);
  keepsIt(t, 'events', events);
});

t.test('neither the result of a login nor its error and causes show the token or the secret', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const config = await configOf({ baseUrl: upstream.url, yaml: YAML, env: ENV });
  const pools = new UpstreamPools(config);
  t.teardown(() => pools.destroy());
  const credential = config.credentials.get('token');
  if (!logsIn(credential)) throw new Error('not a login');
  const logIn = () => loginFor(credential, config, pools, systemClock)(new AbortController().signal);
  upstream.onLogin = () => ok(`{"accessToken":"${TOKEN}","expires_in":60}`);
  const issued = await logIn();
  t.equal(issued.token.expose(), TOKEN);
  keepsIt(t, 'issued', issued);

  const answers = {
    'no HTTP': `${TOKEN}\r\n\r\n`,
    'a broken head': `HTTP/1.1 200 OK\r\nx ${TOKEN}\r\ncontent-length: 1\r\n\r\n`,
    'a broken chunk': `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${TOKEN}\r\n`,
    'no JSON': ok(TOKEN),
    'no token': ok(`{"token":"${TOKEN}"}`),
    'a token that no header can hold': ok(`{"accessToken":"${TOKEN}\\n","expires_in":60}`),
    'a redirect': `HTTP/1.1 302 X\r\nlocation: /?${TOKEN}\r\ncontent-length: 0\r\n\r\n`,
    'a refusal': `HTTP/1.1 401 ${TOKEN}\r\ncontent-length: 0\r\n\r\n`,
    'half a body': `HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${TOKEN}`,
  };
  for (const [name, answer] of Object.entries(answers)) {
    upstream.onLogin = () => {
      if (name === 'half a body') later(50, () => upstream.stop());
      return answer as Buffer;
    };
    const error = await logIn().catch((reason: unknown) => reason);
    t.ok(error instanceof LoginError, name);
    keepsIt(t, name, error);
    keepsIt(t, `${name}, as a cause`, new Problem('login-refused', { cause: error }));
  }
});
