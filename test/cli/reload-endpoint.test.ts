import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { start } from '../support/cli.ts';
import { gatewayFor, request } from '../support/gateway.ts';
import { ask } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// POST /reload of the admin listener does what SIGHUP does, and answers.

const upstream = await RawUpstream.startedFor(t);
const SECRET = 'canary-key-0123456789';
const fileOf = (routes: string, more = '') =>
  `baseUrl: ${upstream.url}\ncredentials: { apiKey: { type: apiKey, key: ${SECRET} } }\nroutes: [${routes}]\n${more}`;
const FIRST = '{ prefix: /a, credential: apiKey }';
const BOTH = `${FIRST}, { prefix: /b, credential: none }`;

async function startedFor(t: Test) {
  const dir = t.testdir({ 'bearerd.yaml': fileOf(FIRST) });
  const addresses = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
  const proxy = start(t, addresses, { BEARERD_LOG_FORMAT: 'json' }, dir);
  const [line] = await proxy.until(/\{[^\n]*"msg":"listening[^\n]*\}/);
  const ports = [...line.matchAll(/http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
  const reload = async (method = 'POST', ...lines: string[]) => {
    const answer = await ask(ports[1]!, request(method, '/reload', ...lines));
    return { ...answer, json: JSON.parse(answer.text) };
  };
  const get = async (target: string) => (await ask(ports[0]!, request('GET', target))).status;
  return { proxy, reload, get, put: (text: string) => writeFileSync(join(dir, 'bearerd.yaml'), text) };
}

t.test(
  'POST /reload answers once the new configuration is in force, or says why the old one stays',
  async (t) => {
    const { proxy, reload, get, put } = await startedFor(t);
    t.same([await get('/a'), await get('/b')], [200, 404]);
    put(fileOf(BOTH));
    const taken = await reload();
    t.same([taken.status, taken.json], [200, { reloaded: true, restartNeededFor: [] }]);
    t.same([await get('/a'), await get('/b')], [200, 200]);

    put(fileOf(BOTH, 'limits: { headerSize: 16KiB }'));
    t.same((await reload()).json, { reloaded: true, restartNeededFor: ['limits.headerSize'] });

    put(fileOf(`${FIRST}, { prefix: /c, credential: gone }`, 'lisen: x'));
    const refused = await reload();
    t.equal(refused.status, 409);
    t.match(refused.json, {
      reloaded: false,
      faults: [
        { key: /^lisen/, suggestion: 'listen' },
        { key: 'routes[1].credential', message: /bearerd\.yaml/ },
      ],
    });
    t.equal(refused.json.faults.length, 2, 'every fault');
    t.same([await get('/b'), await get('/c')], [200, 404], 'the old configuration stays in force');
    put(fileOf(FIRST).replace(SECRET, `"${SECRET}\\x01"`));
    const secret = await reload();
    t.match(secret, { status: 409, json: { faults: [{ key: 'credentials.apiKey.key' }] } });
    t.notMatch(secret.text + proxy.output(), SECRET);
    put('');
    t.match(await reload(), {
      status: 409,
      json: { faults: [{ key: /bearerd\.yaml$/, message: /^is empty/ }] },
    });
    await proxy.until(/"by":"POST \/reload"/);
  },
);

t.test('simultaneous requests for a reload get the answer of one reload', async (t) => {
  const { reload, put } = await startedFor(t);
  put(fileOf(BOTH));
  const answers = await Promise.all(Array.from({ length: 8 }, () => reload()));
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
});

t.test('POST /reload has the guards of POST /renew', async (t) => {
  const { reload, put, get } = await startedFor(t);
  put(fileOf(BOTH));
  t.match(await reload('POST', 'origin: http://evil.example'), {
    status: 403,
    json: { code: 'origin-refused' },
  });
  t.match(await reload('POST', 'sec-fetch-site: cross-site'), { status: 403 });
  const read = await reload('GET');
  t.same([read.status, read.header('allow')], [405, 'POST']);
  t.equal(await get('/b'), 404, 'the new route is not in force');
});

t.test('a proxy without a configuration to reload has no POST /reload', async (t) => {
  const { adminPort } = await gatewayFor(t, {
    baseUrl: upstream.url,
    env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0', BEARERD_ROUTES: '/=none' },
  });
  const { status, text } = await ask(adminPort, request('POST', '/reload'));
  t.match([status, JSON.parse(text)], [404, { code: 'no-route' }]);
});
