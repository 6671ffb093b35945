import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { reasonsUnready } from '../../src/cli/admin-client.ts';
import { plainPlace } from '../../src/cli/quick-healthcheck.ts';
import { ConfigurationSource } from '../../src/config/source.ts';
import { formatAddress, type ListenAddress } from '../../src/config/values/addresses.ts';

// `healthcheck` finds the admin listener without parsing the configuration, where the address is plain to see.

const BASE = 'baseUrl: https://api.example.com\n';

/** The address by the full parser of the configuration. */
async function read(env: NodeJS.ProcessEnv, configFile?: string): Promise<ListenAddress | undefined> {
  const [first] = await new ConfigurationSource(env, { configFile }).loadListen('adminListen');
  return first;
}

const shown = (address: ListenAddress | undefined) => address && formatAddress(address);

const FILES: Readonly<Record<string, [text: string, isPlain: boolean]>> = {
  'no admin in it': [`${BASE}routes:\n  - { prefix: /api/admin, credential: none }\n`, true],
  'a block': [`${BASE}admin:\n  listen: 127.0.0.1:1\n`, true],
  'a block with comments': [`${BASE}admin: # health\n  # where\n\n  listen: 127.0.0.1:2 # here\n`, true],
  'a block with CRLF': [`${BASE}admin:\r\n  listen: '127.0.0.1:3'\r\n`, false],
  'a block with CRLF and no quotes': [`${BASE}admin:\r\n  listen: 127.0.0.1:3\r\n`, true],
  'a flow map': [`${BASE}admin: { listen: 127.0.0.1:4 }\n`, true],
  'a Unix socket': [`${BASE}admin: { listen: unix:/run/admin.sock, probes: off }\n`, true],
  'probes first': [`${BASE}admin: { probes: 127.0.0.1:5, listen: 127.0.0.1:6 }\n`, false],
  'probes alone': [`${BASE}admin:\n  probes: 127.0.0.1:5\n`, false],
  'a list': [`${BASE}admin:\n  listen: [127.0.0.1:7, '[::1]:7']\n`, false],
  'a list with commas': [`${BASE}admin:\n  listen: 127.0.0.1:7, 127.0.0.2:7\n`, false],
  'a key in quotes': [`${BASE}"admin": { listen: 127.0.0.1:8 }\n`, false],
  'a key with an escape': [`${BASE}"\\x61dmin": { listen: 127.0.0.1:9 }\n`, false],
  'all in one flow map': [`{ baseUrl: https://api.example.com, admin: { listen: 127.0.0.1:10 } }\n`, false],
  'a credential of that name': [
    `${BASE}credentials:\n  admin: { type: apiKey, key: k, listen: 127.0.0.1:1 }\n`,
    false,
  ],
  'listen of something else': [`${BASE}admin:\nlisten: 127.0.0.1:11\n`, false],
};

t.test(
  'an address that the quick search finds in a file is the one that the full parser finds',
  async (t) => {
    for (const [name, [text, isPlain]] of Object.entries(FILES)) {
      const dir = t.testdir({ 'bearerd.yaml': text });
      const file = join(dir, 'bearerd.yaml');
      for (const [args, env] of [
        [['--config', file], {}],
        [[`--config=${file}`], {}],
        [[], { BEARERD_CONFIG: file }],
        [[], { XDG_CONFIG_HOME: '/nowhere', HOME: '/nowhere' }],
      ] as const) {
        const place = plainPlace(args, env, () => dir);
        t.equal(place !== undefined, isPlain, name);
        if (place !== undefined) {
          t.equal(shown(place.address), shown(await read(env, file)), name);
          t.equal(place.isSure, false);
        }
      }
    }
  },
);

t.test('without a file, a flag wins over the variable, and the variable over the default', async (t) => {
  const cwd = t.testdir({});
  const env = { BEARERD_ADMIN_LISTEN: ' 127.0.0.1:2 ' };
  const address = (args: readonly string[], env: NodeJS.ProcessEnv) =>
    shown(plainPlace(args, env, () => cwd)?.address);
  t.equal(address([], {}), shown(await read({ HOME: cwd })));
  t.equal(address([], { BEARERD_ADMIN_LISTEN: ' ' }), shown(await read({ HOME: cwd })));
  t.equal(address([], env), '127.0.0.1:2');
  t.equal(address(['--admin-listen', 'unix:/a'], env), 'unix:/a');
  t.equal(address(['--admin-listen=[::1]:3'], env), '[::1]:3');
  t.equal(plainPlace([], env, () => cwd)?.isSure, true);
});

t.test('what the quick search cannot decide is left to the full parser', async (t) => {
  const empty = t.testdir({ envs: { '.env': '' }, other: { 'bearerd.yml': BASE }, none: {} });
  for (const args of [['--help'], ['-V'], ['x'], ['--admin-listen'], ['--admin-listen='], ['--confg', 'x']]) {
    t.equal(
      plainPlace(args, {}, () => join(empty, 'none')),
      undefined,
      args.join(' '),
    );
  }
  for (const value of ['off', '127.0.0.1:0', '127.0.0.1:1,127.0.0.1:2', 'nonsense', '9181']) {
    t.equal(
      plainPlace([], { BEARERD_ADMIN_LISTEN: value }, () => join(empty, 'none')),
      undefined,
      value,
    );
  }
  for (const folder of ['envs', 'other'])
    t.equal(
      plainPlace([], {}, () => join(empty, folder)),
      undefined,
      folder,
    );
  t.equal(
    plainPlace(['--config', join(empty, 'missing.yaml')], {}, () => empty),
    undefined,
  );
  t.equal(
    plainPlace(['--config', '/dev/null'], {}, () => empty),
    undefined,
    'a file that may be a pipe is not read twice',
  );
});

async function answering(t: Test, answer: (socket: Socket) => unknown, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

t.test('a probe says in words what it found', async (t) => {
  const ready = '{"ready":true,"draining":false,"credentials":{}}';
  const cases: readonly [what: string, answer: (socket: Socket) => unknown, expected: RegExp | undefined][] =
    [
      ['ready', (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: y\r\n\r\n${ready}`), undefined],
      [
        'another server',
        (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n<p>'),
        /is not bearerd: give the address/,
      ],
      [
        'no HTTP',
        (socket) => socket.end('220 mail ESMTP\r\n'),
        /^the admin listener at .* \(HTTPParserError\)\. See whether bearerd runs there/,
      ],
      ['nothing', (socket) => socket.end(), /^the admin listener at .* \(UND_ERR_SOCKET\)/],
      ['a reset', (socket) => socket.resetAndDestroy(), /^the admin listener at .* \(ECONNRESET\)/],
      ['silence', () => {}, /^the admin listener at .* \(UND_ERR_HEADERS_TIMEOUT\)/],
      [
        'no end',
        (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${' '.repeat((1 << 20) + 1)}`),
        /\(UND_ERR_RES_EXCEEDED_MAX_SIZE\)/,
      ],
    ];
  for (const [what, answer, expected] of cases) {
    const port = await answering(t, answer);
    const [reason] = await reasonsUnready({ kind: 'tcp', host: '127.0.0.1', port });
    if (expected === undefined) t.equal(reason, undefined, what);
    else t.match(reason, expected, what);
  }
});

t.test('a name like localhost means both loopback addresses, a wildcard address this machine', async (t) => {
  const answer = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n{"ready":true,"credentials":{}}');
  const v4 = await answering(t, answer);
  t.same(await reasonsUnready({ kind: 'tcp', host: '0.0.0.0', port: v4 }), []);
  const names = ['localhost', 'LOCALHOST', 'admin.localhost'];
  for (const host of names) t.same(await reasonsUnready({ kind: 'tcp', host, port: v4 }), [], host);
  const v6 = await answering(t, answer, '::1').catch(() => undefined);
  if (v6 !== undefined) {
    for (const host of names) t.same(await reasonsUnready({ kind: 'tcp', host, port: v6 }), [], host);
    t.same(await reasonsUnready({ kind: 'tcp', host: '::', port: v6 }), []);
  }
  const none = (at: string) => [
    `nothing listens at ${at}. Start bearerd, or give the address of its admin listener with --admin-listen`,
  ];
  t.same(await reasonsUnready({ kind: 'tcp', host: 'localhost', port: 1 }), none('localhost:1'));
  t.same(await reasonsUnready({ kind: 'unix', path: '/nowhere/x.sock' }), none('unix:/nowhere/x.sock'));
});
