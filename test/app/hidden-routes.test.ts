import t from 'tap';
import { gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

// Two proxies give a caller the same routes, and differ in all other routes. A caller or a client without a key that gets
// the same answers from both can't tell which of those routes exist.

const AGENT = 'k3y-agent-of-some-routes';
const OTHER = 'k3y-other-of-one-route';
const OWNER = 'k3y-owner-of-all-routes';
const PAGE = 'http://page.test';

/** @param seen what the hidden routes of this proxy are called */
const yaml = (seen: string, ofOneOnly: string) => `
allowedOrigins: ['${PAGE}']
credentials:
  own: { type: apiKey, key: own-secret-of-a-route, header: X-Own }
  hidden: { type: apiKey, key: hidden-secret-of-a-route, header: X-${seen} }
  asked: { type: apiKey, key: asked-secret-of-a-route, in: query, name: ${seen}_key }
routes:
  - { prefix: /reports, credential: token, methods: [GET, HEAD] }
  - { prefix: '/reports;v=1', credential: token }
  - { prefix: /own, credential: own }
  - { prefix: /own, credential: token, host: own.internal }
  - { prefix: /${seen}, credential: hidden, methods: [GET], clientAuthorization: reject }
  - { prefix: '/${seen};v=1', credential: token }
  - { prefix: /${seen}-asked, credential: asked, limit: 1/24h }
  - { prefix: /${seen}-closed, credential: deny }
  - { prefix: /${seen}-moved, credential: token, rewrite: /${seen}-upstream }
  - { prefix: '/own;${seen}=1', credential: token }
  - { prefix: /own, credential: token, host: ${seen}.internal }
  - { prefix: /own, credential: none, host: www.${seen}.internal, upstream: 'https://${seen}.vendor.test', upstreamAddress: '127.0.0.1:1' }
${ofOneOnly}
callers:
  owner: { key: ${OWNER} }
  agent: { key: ${AGENT}, routes: [/reports, /own, //own.internal/own], limit: 100000/24h }
  other: { key: ${OTHER}, routes: ['/reports;v=1'] }
`;

const upstream = await RawUpstream.startedFor(t);
const started = (seen: string, ofOneOnly: string) =>
  gatewayFor(t, { baseUrl: upstream.url, yaml: yaml(seen, ofOneOnly) });
const first = await started('first', '  - { prefix: /, credential: token }');
const second = await started('second', '  - { prefix: /reportsx, credential: token }');

t.beforeEach(() => {
  upstream.reset();
  upstream.onHead = ({ connection, target }) => {
    const to = /[?&]to=([^&]*)/.exec(target)?.[1];
    const links = to === undefined ? [] : [`location: ${to}`, `link: <${to}>; rel=next`];
    connection.send(head('302 Found', 'content-length: 0', ...links));
  };
});

/** The whole answer, without what differs between any two requests: the date, and the request's ID with its length. */
async function answer(proxy: TestGateway, bytes: string): Promise<string> {
  const client = await proxy.client();
  const { head: lines, text } = await client.send(bytes).response(/^\S+/.exec(bytes)![0]);
  client.close();
  const rest = lines.replaceAll(/^(?:date|content-length):.*\r\n/gim, '');
  return rest + text.replace(/,"instance":"[^"]*"/, '');
}

const both = (bytes: string) => Promise.all([answer(first, bytes), answer(second, bytes)]);

const TARGETS = ['first', 'second']
  .flatMap((name) => [
    `/${name}`,
    `/${name}/x?y=%zz`,
    `/${name.toUpperCase()}`,
    `/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
    `//${name}`,
    `/${name};a=b`,
    `/${name};v=1`,
    `/${name};V=1`,
    `/${name}-asked/x`,
    `/${name}-closed`,
    `/${name}-closed.json`,
    `/${name}-Closed;x`,
    `/${name}-moved`,
    `/own;${name}=1`,
    `/own;${name}=1/x`,
    `http://${name}.internal/own`,
    `http://www.${name}.internal/own`,
    `http://${name}.vendor.test/own`,
    `http://${name}.internal`,
    `/own?to=/${name}-upstream/x`,
    `/own?${name}_key=${AGENT}`,
    `/nowhere?${name}_key=${AGENT}`,
  ])
  .concat(
    '/',
    '/reports',
    '/Reports',
    '/reportsx',
    '/reports/../x',
    '/own;x',
    '/nowhere',
    '*',
    '/reports;v=1',
    '/x#y',
  );

const KEYS: readonly (readonly string[])[] = [
  [],
  [`x-bearerd-key: ${AGENT}`],
  [`x-bearerd-key: ${OTHER}`],
  [`x-own: ${AGENT}`],
  [`x-own: ${OTHER}`],
  [`x-first: ${AGENT}`],
  [`x-second: ${AGENT}`],
  [`x-first: ${AGENT}`, `authorization: Bearer ${OTHER}`],
  [`authorization: Bearer ${AGENT}`, `x-second: ${OTHER}`],
  [`x-own: ${AGENT}`, `x-first: ${OTHER}`],
];

/** Compares the answers to the same requests, and lists the requests whose answers differ. */
async function differing(requests: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const bytes of requests) {
    const [one, other] = await both(bytes);
    if (one !== other) found.push(`${bytes}${one}${other}`);
  }
  return found;
}

for (const keys of KEYS) {
  t.test(`no path tells which other routes exist, with ${keys.join(' and ') || 'no key'}`, async (t) => {
    t.same(await differing(TARGETS.map((target) => request('GET', target, ...keys))), []);
    t.same(await differing(TARGETS.map((target) => request('DELETE', target, ...keys))), []);
    t.same(await differing(TARGETS.map((target) => request('OPTIONS', target, ...keys))), []);
  });
}

const HOSTS = ['first', 'second'].flatMap((name) => [
  `${name}.internal`,
  `${name.toUpperCase()}.INTERNAL.:80`,
  `www.${name}.internal`,
  `${name}.vendor.test`,
  `x.${name}.internal`,
]);
const UPGRADE = ['connection: upgrade', 'upgrade: websocket'];

t.test('no host, origin, preflight, upgrade or expectation tells which other routes exist', async (t) => {
  for (const host of [...HOSTS, 'own.internal', 'localhost', 'a b', 'nowhere.test', 'x.localhost']) {
    const lines = (method: string, target: string, ...more: string[]) =>
      `${method} ${target} HTTP/1.1\r\n${[`host: ${host}`, ...more].map((line) => `${line}\r\n`).join('')}\r\n`;
    for (const keys of [0, 1, 3, 5].map((at) => KEYS[at]!)) {
      const requests = ['/own', '/first', 'http://localhost/own', 'http://own.internal/own'].flatMap(
        (target) => [
          lines('GET', target, ...keys),
          lines('GET', target, ...keys, ...UPGRADE),
          lines('GET', target, ...keys, `origin: ${PAGE}`),
          lines('GET', target, ...keys, `origin: http://${host}`),
          lines('GET', target, ...keys, 'sec-fetch-site: cross-site'),
          lines('OPTIONS', target, ...keys, `origin: ${PAGE}`, 'access-control-request-method: PUT'),
          lines('OPTIONS', target, ...keys, 'origin: http://x', 'access-control-request-method: PUT'),
          lines('GET', target, ...keys, 'expect: wonders'),
          `${lines('POST', target, ...keys, 'expect: 100-continue', 'content-length: 2')}ab`,
        ],
      );
      t.same(await differing([...requests, lines('OPTIONS', '*', ...keys)]), [], `${host} ${keys}`);
    }
  }
});

t.test('a caller with routes is forwarded on these, by each of its keys and hosts', async (t) => {
  const status = async (bytes: string) => (await first.ask(bytes)).status;
  const key = `x-bearerd-key: ${AGENT}`;
  t.equal(await status(request('GET', '/reports', key)), 302);
  t.equal(await status(request('GET', '/own', `x-own: ${AGENT}`)), 302);
  t.equal(await status(`GET /own HTTP/1.1\r\nhost: own.internal\r\n${key}\r\n\r\n`), 302);
  t.match((await first.ask(request('PUT', '/reports', key))).header('allow'), 'GET, HEAD');
  t.equal(upstream.requests.length, 3);
});

t.test(
  'a foreign Host is refused after the key, and only a caller that may use all routes is told why',
  async (t) => {
    const code = async (...lines: string[]) => {
      const bytes = `GET /own HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
      return JSON.parse((await first.ask(bytes)).text).code;
    };
    for (const host of ['host: foreign.test', 'host: first.internal']) {
      t.equal(await code(host), 'caller-key-required', host);
      t.equal(await code(host, `x-bearerd-key: ${AGENT}`), 'route-denied', host);
    }
    t.equal(await code('host: foreign.test', `x-bearerd-key: ${OWNER}`), 'host-refused');
    t.equal(await code('host: a b', `x-bearerd-key: ${AGENT}`), 'bad-request');
    t.same(upstream.requests, []);
  },
);

t.test('the log names the caller whose key counts, and one whose key is in the wrong place', async (t) => {
  for (const [keys, caller] of [
    [[`x-first: ${AGENT}`], 'agent'],
    [[`x-first: ${AGENT}`, `authorization: Bearer ${OTHER}`], 'other'],
  ] as const) {
    const before = first.requests().length;
    await first.get('/nowhere', ...keys, 'expect: wonders');
    await until(() => first.requests().length > before, 'the request does not end');
    t.equal(first.requests()[before]!.caller, caller, keys.join());
  }
});
