import t from 'tap';
import { routeName } from '../../src/config/values/route-names.ts';
import { routeHost, routeNames, routePairs } from '../../src/config/values/vocabulary.ts';
import { LEAST, loadFrom, loadYaml } from './load-from.ts';

// A route may have a host: in the file by `host`, in a variable as //HOST/PREFIX.

const TOKEN = `
baseUrl: https://api.example.com
credentials: { token: { type: session, clientId: a, clientSecret: b } }`;

async function faults(yaml: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  try {
    await loadYaml(TOKEN + yaml, env);
    return [];
  } catch (error) {
    return (error as { faults: { key: string; problem: string }[] }).faults.map(
      ({ key, problem }) => `${key}: ${problem}`,
    );
  }
}

t.test('the host of a route is a name in any letter case; a final dot is dropped', async (t) => {
  for (const [text, host] of Object.entries({
    'orders.localhost': 'orders.localhost',
    'Orders.LocalHost.': 'orders.localhost',
    sidecar: 'sidecar',
    my_service: 'my_service',
    'xn--mnchen-3ya.example': 'xn--mnchen-3ya.example',
    '1.example': '1.example',
    localhost: 'localhost',
  }))
    t.same(routeHost.parse(text), { value: host }, text);
});

t.test('an invalid host is a fault that does not quote the value', async (t) => {
  for (const [text, problem] of Object.entries({
    'orders.localhost:9180': /without a port/,
    'orders.localhost:': /without a port/,
    '*.localhost': /not a wildcard/,
    '*': /not a wildcard/,
    '127.0.0.1': /no address/,
    '127.0.0.1:80': /no address/,
    '[::1]': /no address/,
    '::1': /no address/,
    '[::1]:80': /no address/,
    'http://orders.localhost': /without http:\/\//,
    'orders.localhost/x': /without a path/,
    'münchen.example': /ASCII/,
    'a b': /must be a host name/,
    '': /must be a host name/,
    '.': /must be a host name/,
    'a..b': /must be a host name/,
    '-a.b': /must be a host name/,
    'user@orders.localhost': /must be a host name/,
    [`${'a'.repeat(64)}.b`]: /must be a host name/,
    [`${'a.'.repeat(127)}b`]: /must be a host name/,
  })) {
    const parsed = routeHost.parse(text);
    const told = 'problem' in parsed ? parsed.problem : 'no problem';
    t.match(told, problem, text);
    if (text.length > 6) t.notOk(told.includes(text), 'the value is not quoted');
  }
});

t.test('BEARERD_ROUTES takes //HOST/PREFIX', async (t) => {
  const { routes } = await loadFrom({
    env: { ...LEAST, BEARERD_ROUTES: '//Orders.localhost/=token,//crm.localhost/api/=none,/=deny' },
  });
  t.match(routes, [
    { host: 'orders.localhost', prefix: '/', credential: 'token' },
    { host: 'crm.localhost', prefix: '/api', credential: 'none' },
    { prefix: '/', credential: 'deny' },
  ]);
  t.notOk('host' in routes[2]!);
  t.same(routes.map(routeName), ['//orders.localhost/', '//crm.localhost/api', '/']);
  for (const [text, problem] of Object.entries({
    '//orders.localhost=token': /must go on behind its host/,
    '//orders.localhost:80/=token': /between \/\/ and \/.*without a port/,
    '//*.localhost/=token': /not a wildcard/,
    '///x=token': /must be a host name/,
    '//a.localhost//x=token': /doubled slash/,
    '//a.localhost/../x=token': /\. or \.\./,
  })) {
    const parsed = routePairs.parse(text);
    t.match('problem' in parsed ? parsed.problem : 'no problem', problem, text);
  }
  t.same(routePairs.format([{ host: 'a.localhost', prefix: '/x', credential: 'deny' }]), [
    '//a.localhost/x=deny',
  ]);
});

t.test('two routes may share a prefix with different hosts, and not with the same host', async (t) => {
  const routes = (...lines: string[]) => `\nroutes:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`;
  t.same(
    await faults(
      routes(
        'prefix: /, credential: token',
        'host: a.localhost, prefix: /, credential: token',
        'host: b.localhost, prefix: /, credential: none',
      ),
    ),
    [],
  );
  t.same(
    await faults(
      routes(
        'host: a.localhost, prefix: /x, credential: token',
        'host: A.Localhost., prefix: /x/, credential: none',
      ),
    ),
    ['routes[1].prefix: has the host and prefix of another route'],
  );
  t.match(await faults('', { BEARERD_ROUTES: '//a.localhost/=token,//A.localhost/=none' }), [
    /^BEARERD_ROUTES: entry 2: has the host and prefix of another route/,
  ]);
  t.match(await faults(routes('host: a.localhost, prefix: /x, credential: tokn')), [
    /^routes\[0\]\.credential: sends \/\/a\.localhost\/x to the credential tokn/,
  ]);
  t.match(await faults(routes('prefix: //a.localhost/x, credential: token')), [/doubled slash/]);
});

t.test('the routes of a caller are named with their hosts', async (t) => {
  const yaml = (routes: string) => `
routes:
  - { host: a.localhost, prefix: /, credential: token }
  - { host: a.localhost, prefix: /api, credential: token }
  - { prefix: /, credential: token }
callers: { agent: { key: k, routes: ${routes} } }`;
  const { callers } = await loadYaml(TOKEN + yaml("[//A.localhost/api/, '/']"));
  t.same(callers[0]?.routes, ['//a.localhost/api', '/']);
  t.match(await faults(yaml('[/api]')), [
    'callers.agent.routes: /api is not the prefix of a route (there are //a.localhost/, //a.localhost/api, /)',
  ]);
  t.match(await faults(yaml('[//b.localhost/api]')), [/did you mean \/\/a\.localhost\/api/]);
  t.match(await faults(yaml('[//a.localhost]')), [/must go on behind its host/]);
  t.ok('value' in routeNames.parse('/a,//b.localhost/'));
});

t.test(
  'check shows the host, and warns of localhost, since clients may use other names of loopback',
  async (t) => {
    const { effective, warnings } = await loadYaml(
      `${TOKEN}\nroutes: [{ host: Orders.localhost, prefix: /, credential: token }, { host: localhost, prefix: /, credential: token }]`,
    );
    t.match(effective, { routes: [{ host: 'orders.localhost', prefix: '/' }, { host: 'localhost' }] });
    t.match(warnings, [
      { key: 'routes[1].host', problem: /127\.0\.0\.1 and \[::1\] see the routes without a host/ },
    ]);
    const byVariable = await loadFrom({ env: { ...LEAST, BEARERD_ROUTES: '//localhost/=token' } });
    t.match(byVariable.warnings, [{ key: 'BEARERD_ROUTES', problem: /^entry 1: is only one of the names/ }]);
  },
);
