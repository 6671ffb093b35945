import t from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { Http2Upstream } from '../support/h2-upstream.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

// A key is sent as its UTF-8 bytes, as its file holds them and as other tools send them.

/** A header value: one character for each byte. */
const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const KEY = 'clé-日本';
const YAML = `
credentials:
  apiKey: { type: apiKey, key: { env: MY_KEY } }
  inYaml: { type: apiKey, key: '${KEY}', header: X-Api-Key, scheme: '' }
routes:
  - { prefix: /, credential: apiKey }
  - { prefix: /yaml, credential: inYaml }
`;
const UPGRADE = ['connection: Upgrade', 'upgrade: websocket'];

t.test(
  'a key goes upstream as its UTF-8 bytes, from a variable and from a file, with an upgrade too',
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const { get, ask, internalErrors } = await gatewayFor(t, {
      baseUrl: upstream.url,
      yaml: YAML,
      env: { MY_KEY: KEY },
    });
    t.equal((await get('/x')).status, 200);
    t.equal(upstream.last.header('authorization'), `Bearer ${bytesOf(KEY)}`);
    t.equal((await get('/yaml')).status, 200);
    t.equal(upstream.last.header('x-api-key'), bytesOf(KEY));
    upstream.onRequest = () => head('101 Switching Protocols', ...UPGRADE);
    t.equal((await ask(request('GET', '/x', ...UPGRADE))).status, 101);
    t.equal(upstream.last.header('authorization'), `Bearer ${bytesOf(KEY)}`);
    t.same(internalErrors(), []);
  },
);

t.test('a key goes upstream as its UTF-8 bytes in HTTP/2', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const env = { ...upstream.env, BEARERD_API_KEY: KEY, BEARERD_ROUTES: '/=apiKey' };
  const { get } = await gatewayFor(t, { baseUrl: upstream.url, env });
  t.equal((await get('/x')).status, 200);
  t.equal(upstream.requests[0]!.header('authorization'), `Bearer ${bytesOf(KEY)}`);
});

t.test('a caller key matches the UTF-8 bytes that a client sends', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const env = { BEARERD_CALLER_KEY: 'pässwort-日本' };
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env });
  for (const header of ['x-bearerd-key:', 'proxy-authorization: Bearer']) {
    const line = `${header} ${env.BEARERD_CALLER_KEY}`;
    t.equal((await ask(Buffer.from(request('GET', '/x', line), 'utf8'))).status, 200, header);
    const wrong = line.replace('-日本', '');
    t.equal((await ask(Buffer.from(request('GET', '/x', wrong), 'utf8'))).status, 407);
  }
});
