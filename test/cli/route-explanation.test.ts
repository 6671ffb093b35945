import t from 'tap';
import { explain, explanationText } from '../../src/cli/route-explanation.ts';
import { tablesOf } from '../../src/cli/route-tables.ts';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

t.test('routes METHOD PATH says what the proxy answers', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onRequest = () => ok();
  const yaml = `
routes:
  - { prefix: /, credential: none, methods: [GET, OPTIONS] }
  - { prefix: /api, credential: none }
  - { prefix: /closed, credential: deny }
`;
  const options = { baseUrl: upstream.url, yaml };
  const proxy = await gatewayFor(t, options);
  const config = await configOf(options);
  for (const [method, target, code] of [
    ['GET', '/api', null],
    ['POST', '/x', 'method-refused'],
    ['GET', '/closed', 'route-denied'],
    ['CONNECT', 'example.com:443', 'method-refused'],
    ['TRACE', '/api', 'method-refused'],
    ['TRACE', 'http://foreign.test/', 'method-refused'],
    ['TRACE', 'x', 'method-refused'],
    ['TRACE', '*', 'method-refused'],
    ['OPTIONS', '*', null],
    ['OPTIONS', 'http://localhost', null],
    ['OPTIONS', 'http://foreign.test', 'host-refused'],
    ['OPTIONS', '/x', null],
    ['GET', '*', 'bad-path'],
    ['GET', 'http://localhost', null],
    ['GET', '/x#y', 'bad-path'],
    ['GET', '/x?a b', 'bad-path'],
    ['GET', '/x?a%20b', null],
    ['GET', '/x?a\tb', 'bad-path'],
  ] as const) {
    const sent = upstream.requests.length;
    const answer = await proxy.ask(request(method, target));
    const own = answer.header('content-type') === 'application/problem+json';
    const { decision, ...said } = explain(tablesOf(config), config, { method, target });
    t.equal(own ? JSON.parse(answer.text).code : null, code, `${method} ${target}`);
    const isForwarded = upstream.requests.length > sent;
    t.same([decision === 'forward', said.code], [isForwarded, code], `${method} ${target}`);
    t.equal(said.status, isForwarded ? null : answer.status, `${method} ${target}`);
  }
});

t.test('routes says of a request about the server that bearerd answers it', async (t) => {
  const config = await configOf({ baseUrl: 'https://api.example.com' });
  const text = explanationText(explain(tablesOf(config), config, { method: 'OPTIONS', target: '*' }));
  t.match(text, /^result: +answered by bearerd with 204\nroute: +none\n/);
  t.match(text, /it asks about the server itself/);
  t.notMatch(text, /what to do/);
});
