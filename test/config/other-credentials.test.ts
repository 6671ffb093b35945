import { inspect } from 'node:util';

import t from 'tap';

import type { Config } from '../../src/config/config.ts';
import type { ExecCredentialConfig } from '../../src/config/sections/credentials/exec.ts';
import type { OAuth2CredentialConfig } from '../../src/config/sections/credentials/oauth2.ts';
import { CWD, faultsOfYaml, loadFrom, loadYaml } from './load-from.ts';

const yaml = (entry: string, more = '') => `baseUrl: https://api.example.com
${more}
credentials: { partner: ${entry} }
routes: [{ prefix: /, credential: partner }]
`;
type SecretClient = Extract<OAuth2CredentialConfig, { readonly clientAuthentication: 'basic' | 'body' }>;
const partnerOf = (config: Config) => config.credentials.get('partner');

const OAUTH2 = 'type: oauth2, tokenUrl: https://login.example/token, clientId: id, clientSecret: secret';

t.test('an oauth2 credential has a token URL, a client, and defaults for the rest', async (t) => {
  const partner = partnerOf(await loadYaml(yaml(`{ ${OAUTH2} }`))) as SecretClient;
  const { clientId, clientSecret, ...rest } = partner;
  t.strictSame(rest, {
    name: 'partner',
    kind: 'oauth2',
    tokenEndpoint: { origin: 'https://login.example', path: '/token' },
    clientAuthentication: 'basic',
    parameters: {},
    origins: ['https://api.example.com'],
    header: 'Authorization',
    scheme: 'Bearer',
  });
  t.equal(clientId.expose(), 'id');
  t.equal(clientSecret.expose(), 'secret');
});

t.test(
  'an oauth2 credential may have every optional field, and secrets from files and variables',
  async (t) => {
    const config = await loadYaml(
      yaml(`
    type: oauth2
    tokenUrl: https://LOGIN.example:8443/t/oauth2/token?api-version=1&x=%C3%A9
    clientId: { env: PARTNER_ID }
    clientSecret: { file: secrets/partner }
    clientAuthentication: body
    scope: read write
    audience: https://api.example.com/
    parameters: { resource: 'urn:x', api_key: { env: PARTNER_KEY }, __proto__: { file: /run/p } }
    origins: [https://api.example.com, https://b.example]
    header: X-Token
    scheme: ''`)
        .replace('{ partner:', '\n  partner:')
        .replace(' }\nroutes', '\nroutes'),
      { PARTNER_ID: 'id-1', PARTNER_KEY: 'key-1' },
      { [`${CWD}/secrets/partner`]: 'secret-1\n', '/run/p': 'p-1' },
    );
    const partner = partnerOf(config) as SecretClient;
    t.match(partner, {
      tokenEndpoint: {
        origin: 'https://login.example:8443',
        path: '/t/oauth2/token?api-version=1&x=%C3%A9',
      },
      clientAuthentication: 'body',
      scope: 'read write',
      audience: 'https://api.example.com/',
      origins: ['https://api.example.com', 'https://b.example'],
      header: 'X-Token',
      scheme: '',
    });
    t.equal(partner.clientId.expose(), 'id-1');
    t.equal(partner.clientSecret.expose(), 'secret-1');
    t.same(
      Object.entries(partner.parameters).map(([name, value]) => [name, value.expose()]),
      [
        ['resource', 'urn:x'],
        ['api_key', 'key-1'],
        ['__proto__', 'p-1'],
      ],
    );
    t.same([...config.watchedFiles].sort(), ['/run/p', `${CWD}/secrets/partner`]);
    for (const name of ['PARTNER_ID', 'PARTNER_KEY']) t.ok(config.secretVariables.includes(name), name);
  },
);

t.test('all faults of an oauth2 credential are reported with their full keys, at once', async (t) => {
  t.same(await faultsOfYaml(yaml('{ type: oauth2 }')), [
    'credentials.partner.clientId: is missing',
    'credentials.partner.clientSecret: is missing',
    'credentials.partner.tokenUrl: is missing',
  ]);
  const entry = `{
    type: oauth2, tokenUrl: 'ftp://c4n4ry', clientId: '', clientSecret: 7, clientAuthentication: basci, scope: [a],
    audience: '', scopes: x, tokenurl: x, key: c4n4ry, command: [x],
    parameters: { grant_type: password, client_id: x, client_secret: c4n4ry, scope: x, audience: x, resource: 1 } }`;
  const faults = await faultsOfYaml(yaml(entry));
  t.same(faults, [
    'credentials.partner.audience: must not be empty',
    'credentials.partner.clientAuthentication: must be one of basic, body, assertion, privateKeyJwt, tls, none; did you mean basic?',
    'credentials.partner.clientId: is empty',
    'credentials.partner.clientSecret: must be in quotes: YAML reads it as a number or a boolean',
    'credentials.partner.command: unknown key; it belongs to type: exec',
    'credentials.partner.key: unknown key; did you mean credentials.partner.keyId?',
    'credentials.partner.parameters.audience: cannot be given here: it comes from audience, beside parameters',
    'credentials.partner.parameters.client_id: cannot be given here: it comes from clientId',
    'credentials.partner.parameters.client_secret: cannot be given here: it comes from clientSecret',
    'credentials.partner.parameters.grant_type: cannot be given here: it comes from grant',
    'credentials.partner.parameters.resource: must be in quotes: YAML reads it as a number or a boolean',
    'credentials.partner.parameters.scope: cannot be given here: it comes from scope, beside parameters',
    'credentials.partner.scope: must be one value and not a list',
    'credentials.partner.scopes: unknown key; did you mean credentials.partner.scope?',
    'credentials.partner.tokenurl: unknown key; did you mean credentials.partner.tokenUrl?',
    'credentials.partner.tokenUrl: must begin with https:// (or http://)',
  ]);
  t.match(await faultsOfYaml(yaml(`{ ${OAUTH2}, parameters: [x] }`)), [
    /^credentials\.partner\.parameters: must be a map/,
  ]);
});

t.test(
  'a token URL with http:// is accepted only for a loopback host, unless allowed elsewhere',
  async (t) => {
    const at = (url: string) =>
      `{ ${OAUTH2.replace('https://login.example', url)}, clientAuthentication: x }`;
    t.match(await faultsOfYaml(yaml(at('http://login.example'))), [
      /clientAuthentication/,
      /^credentials\.partner\.tokenUrl: may be http:\/\/ for a loopback host only/,
    ]);
    for (const [url, more] of [
      ['http://127.0.0.1:9', ''],
      ['http://localhost', ''],
      ['http://login.example', 'allowInsecureUpstream: true'],
    ] as const) {
      t.match(await faultsOfYaml(yaml(at(url), more)), [/clientAuthentication/], url);
    }
  },
);

t.test('an exec credential has a command and a timeout', async (t) => {
  const load = async (entry: string) => {
    const { origins: _, ...rest } = partnerOf(await loadYaml(yaml(entry))) as ExecCredentialConfig;
    return rest;
  };
  const common = { name: 'partner', kind: 'exec', header: 'Authorization', scheme: 'Bearer' };
  t.strictSame(await load("{ type: exec, command: [op, read, ' a,b $HOME', ''] }"), {
    ...common,
    command: ['op', 'read', ' a,b $HOME', ''],
    timeoutMs: 10_000,
  });
  t.strictSame(await load('{ type: exec, command: [/bin/x], timeout: 500ms, header: X-A, scheme: A }'), {
    ...common,
    command: ['/bin/x'],
    timeoutMs: 500,
    header: 'X-A',
    scheme: 'A',
  });
});

t.test(
  'the path of a program is relative to the folder of the file; a bare name is looked up in PATH',
  async (t) => {
    for (const [program, found] of [
      ['./get-token', '/etc/bearerd/get-token'],
      ['bin/get-token', '/etc/bearerd/bin/get-token'],
      ['/usr/bin/op', '/usr/bin/op'],
      ['op', 'op'],
    ]) {
      const configFile = '/etc/bearerd/x.yaml';
      const files = { [configFile]: yaml(`{ type: exec, command: ['${program}', ./as-it-is] }`) };
      t.match(partnerOf(await loadFrom({ env: {}, files, configFile })), { command: [found, './as-it-is'] });
    }
  },
);

t.test('a command that is no list of texts, or a timeout without a unit, is a fault', async (t) => {
  const cases: [string, RegExp][] = [
    ['{ type: exec }', /^credentials\.partner\.command: is missing$/],
    ['{ type: exec, command: }', /command: is missing$/],
    ['{ type: exec, command: [] }', /command: needs at least one entry/],
    ['{ type: exec, command: c4n4ry --x }', /command: must be a list of a program and its arguments/],
    ['{ type: exec, command: { c4n4ry: x } }', /command: must be a list/],
    ["{ type: exec, command: ['', x] }", /command: entry 1: must name a program/],
    [
      '{ type: exec, command: [x, 7, [c4n4ry], true] }',
      /entry 2: must be in quotes.*; entry 3: must be text; entry 4/,
    ],
    ['{ type: exec, command: [x, "c4n4ry\\0"] }', /entry 2: may not hold a NUL/],
    ['{ type: exec, command: [x], timeout: 10 }', /timeout: has no unit; write 10s/],
    ['{ type: exec, command: [x], timeout: off }', /timeout: must be a whole number with a unit/],
    ['{ type: exec, command: [x], timeout: 0s }', /timeout: must be at least 1ms/],
    [
      '{ type: exec, command: [x], cwd: /tmp }',
      /holds an unknown key, which may be a part of a secret; .*command, timeout/,
    ],
    ['{ type: exec, command: [x], timeuot: 1s }', /timeuot: unknown key; did you mean .*timeout\?/],
    ['{ type: exec, command: [x], clientSecret: c4n4ry }', /clientSecret: unknown key/],
    [
      '{ type: exce, command: [x] }',
      /type: must be one of session, apiKey, basic, oauth2, exec; did you mean exec\?/,
    ],
    ['{ command: [x] }', /type: is missing; it is one of session, apiKey, basic, oauth2, exec/],
  ];
  for (const [entry, expected] of cases) {
    const faults = await faultsOfYaml(yaml(entry));
    t.match(faults, [expected], entry);
    t.equal(faults.length, 1, entry);
    t.notMatch(faults.join(), 'c4n4ry');
  }
});

t.test(
  'the effective configuration shows oauth2 and exec in the form of the file, with *** for each secret',
  async (t) => {
    const common = { origins: ['https://api.example.com'], header: 'Authorization', scheme: 'Bearer' };
    const viewOf = async (entry: string) => {
      const config = await loadYaml(yaml(entry));
      t.notMatch(inspect(config, { depth: 20, showHidden: true }), 'c4n4ry');
      return (config.effective.credentials as Record<string, unknown>).partner;
    };
    const client = OAUTH2.replace(
      'clientId: id, clientSecret: secret',
      'clientId: c4n4ry, clientSecret: c4n4ry',
    );
    const hidden = { clientId: '***', clientSecret: '***' };
    t.strictSame(await viewOf(`{ ${client} }`), {
      type: 'oauth2',
      tokenUrl: 'https://login.example/token',
      ...hidden,
      clientAuthentication: 'basic',
      grant: 'clientCredentials',
      ...common,
    });
    const withQuery = yaml(`{ ${client.replace('/token', '/token?api_key=c4n4ry&x=1')} }`);
    const { effective } = await loadYaml(withQuery);
    t.match(effective, { credentials: { partner: { tokenUrl: 'https://login.example/token?***' } } });
    t.strictSame(await viewOf(`{ ${client}, scope: a b, audience: c, parameters: { x: c4n4ry } }`), {
      type: 'oauth2',
      tokenUrl: 'https://login.example/token',
      ...hidden,
      clientAuthentication: 'basic',
      grant: 'clientCredentials',
      scope: 'a b',
      audience: 'c',
      parameters: { x: '***' },
      ...common,
    });
    t.strictSame(await viewOf('{ type: exec, command: [op, read, x], timeout: 60s }'), {
      type: 'exec',
      command: ['op', 'read', 'x'],
      timeout: '1m',
      ...common,
    });
  },
);

t.test(
  'a variable wins over an oauth2 or exec entry of the same name, and variables of the entry still count as secret',
  async (t) => {
    const entry = `{ ${OAUTH2.replace('secret', '{ env: A_SECRET }')}, parameters: { x: { env: B_SECRET } }, header: X-T }`;
    const text = `credentials: { token: ${entry} }`;
    const env = {
      BEARERD_BASE_URL: 'https://api.example.com',
      BEARERD_CLIENT_ID: 'i',
      BEARERD_CLIENT_SECRET: 's',
    };
    const config = await loadYaml(text, env);
    t.match(config.credentials.get('token'), { kind: 'session', header: 'X-T' });
    for (const name of ['A_SECRET', 'B_SECRET']) t.ok(config.secretVariables.includes(name), name);
  },
);

t.test('the default route uses the credential named token, of any type', async (t) => {
  const config = await loadYaml(`baseUrl: https://api.example.com\ncredentials: { token: { ${OAUTH2} } }`);
  t.match(config.routes, [{ prefix: '/', credential: 'token' }]);
});
