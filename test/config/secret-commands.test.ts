import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Config } from '../../src/config/config.ts';
import { formsOf } from '../../src/config/declaration/setting.ts';
import { SECRET_SETTINGS } from '../../src/config/declaration/settings.ts';
import { SecretCommands } from '../../src/config/reading/secret-commands.ts';
import { ConfigurationSource } from '../../src/config/source.ts';
import { isRunning } from '../support/processes.ts';
import { PATIENCE_MS, until, within } from '../support/raw-client.ts';
import { faultsOf, faultsOfYaml, LEAST, loadFrom, loadYaml } from './load-from.ts';

// `{ command: [PROGRAM, ARG…] }` and `BEARERD_X_COMMAND`: their values and their faults.

const CANARY = 'ZQSEC-c4n4ry';
const { BEARERD_CLIENT_SECRET: _, ...WITHOUT_SECRET } = LEAST;

const yaml = (secret: string, rest = '') =>
  `baseUrl: https://api.example.com\ncredentials: { key: { type: apiKey, key: ${secret} } }\nroutes: [{ prefix: /, credential: key }]\n${rest}`;
const sh = (script: string, timeout = '30s') =>
  yaml(JSON.stringify({ command: ['sh', '-c', script], timeout }));

async function keyOf(text: string): Promise<string | undefined> {
  const credential = (await loadYaml(text)).credentials.get('key');
  return credential?.kind === 'api-key' ? credential.key.expose() : undefined;
}

async function faultOf(script: string, timeout?: string): Promise<string> {
  const faults = await faultsOfYaml(sh(script, timeout));
  t.equal(faults.length, 1, script);
  return faults[0] ?? '';
}

t.test('the value is the output of the command without one final line end', async (t) => {
  t.equal(await keyOf(sh('echo k-1')), 'k-1');
  t.equal(await keyOf(sh("printf 'k-1\\r\\n'")), 'k-1');
  t.equal(await keyOf(sh('printf k-1')), 'k-1');
  t.equal(
    await keyOf(yaml("{ command: [echo, 'a b', '$HOME'] }")),
    'a b $HOME',
    'the command runs without a shell',
  );
  t.match(await faultOf("printf 'k-1\\n\\n'"), /^credentials\.key\.key: cannot be sent in a header/);
});

t.test('each secret variable has a _COMMAND form, which a shell runs', async (t) => {
  const config = await loadFrom({
    env: { ...WITHOUT_SECRET, BEARERD_CLIENT_SECRET_COMMAND: 'echo one | tr o O' },
  });
  const token = config.credentials.get('token');
  t.equal(
    token?.kind === 'session' && token.grant.kind === 'service-account' && token.grant.clientSecret.expose(),
    'One',
  );
  t.equal(
    config.provenance['credentials.token.clientSecret'],
    'BEARERD_CLIENT_SECRET_COMMAND { command: echo … }',
  );
  for (const setting of SECRET_SETTINGS) t.ok(config.secretVariables.includes(formsOf(setting)[2]));
});

t.test('two forms of one secret are a fault, and its command does not run', async (t) => {
  const begun = join(t.testdir({}), 'begun');
  for (const setting of SECRET_SETTINGS) {
    const [itself, file, command] = formsOf(setting);
    const env = (names: readonly string[]) => ({
      ...LEAST,
      ...Object.fromEntries([
        [itself, undefined],
        ...names.map((name) => [name, name === command ? `touch ${begun}` : '/run/s']),
      ]),
    });
    for (const pair of [
      [itself, command],
      [file, command],
      [itself, file],
    ] as const) {
      const faults = await faultsOf({ env: env(pair), files: { '/run/s': 'x' } });
      t.ok(
        faults.includes(`${pair[0]}: is given together with ${pair[1]}; keep one of the two`),
        pair.join(),
      );
    }
  }
  t.notOk(existsSync(begun));
});

t.test('an empty command is a fault; beside another form it counts as not given', async (t) => {
  const env = { ...LEAST, BEARERD_CLIENT_SECRET_COMMAND: '' };
  t.resolves(loadFrom({ env }));
  t.same(await faultsOf({ env: { ...WITHOUT_SECRET, BEARERD_CLIENT_SECRET_COMMAND: ' ' } }), [
    'BEARERD_CLIENT_SECRET_COMMAND: is empty; it must be a command that prints the secret',
  ]);
  t.same(await faultsOf({ env: { ...LEAST, BEARERD_LISTEN_COMMAND: 'x' } }), [
    'BEARERD_LISTEN_COMMAND: unknown variable; did you mean BEARERD_LISTEN?',
  ]);
});

t.test('a flag with a secret file wins over the command', async (t) => {
  const env = { ...WITHOUT_SECRET, BEARERD_CLIENT_SECRET_COMMAND: 'exit 1' };
  const flags = { BEARERD_CLIENT_SECRET_FILE: '/run/s' };
  await t.resolves(loadFrom({ env, flags, files: { '/run/s': 'from the file' } }));
});

t.test('a fault names the key, the program and the status', async (t) => {
  t.match(
    await faultOf('exit 3'),
    /^credentials\.key\.key: names a command \(sh\) that ended with status 3$/,
  );
  t.match(await faultOf('kill -9 $$'), /\(sh\) that was ended by SIGKILL$/);
  t.match(await faultOf('true'), /\(sh\) that printed nothing$/);
  t.match(await faultOf('echo'), /\(sh\) that printed nothing$/);
  t.match(await faultOf("printf '\\377\\376k\\0'"), /\(sh\) that printed what is not UTF-8 text$/);
  t.match(await faultOf('head -c 65537 /dev/zero | tr "\\0" x'), /\(sh\) that printed more than 64 KiB$/);
  t.match(await faultOf('yes'), /\(sh\) that printed more than 64 KiB$/);
  t.equal((await keyOf(sh('head -c 65536 /dev/zero | tr "\\0" x; echo')))?.length, 65536);
  t.same(await faultsOfYaml(yaml('{ command: [no-such-program-here] }')), [
    "credentials.key.key: names a command (no-such-program-here) that can't be found",
  ]);
  t.match(await faultsOfYaml(yaml('{ command: [/] }')), [/\(\/\) that may not be run$/]);
  const env = { ...WITHOUT_SECRET, BEARERD_CLIENT_SECRET_COMMAND: 'false' };
  t.same(await faultsOf({ env }), [
    'BEARERD_CLIENT_SECRET_COMMAND: names a command (false) that ended with status 1',
  ]);
});

t.test('a command past its timeout is killed with its child processes', async (t) => {
  const file = join(t.testdir({ pid: '' }), 'pid');
  const pid = () => Number(readFileSync(file, 'utf8'));
  // On a busy machine it may not have begun by then.
  for (const seconds of [0.5, 5, 30]) {
    if (pid() > 0) break;
    t.match(
      await faultOf(`sh -c 'echo $$ >${file}; exec sleep 600' & wait`, `${seconds * 1_000}ms`),
      `(sh) that was killed: it was still running after ${seconds} s`,
    );
  }
  const child = pid();
  t.ok(child > 1);
  await until(() => !isRunning(child), 'the child process still runs');
});

t.test('a fault has the last line of standard error, without secrets', async (t) => {
  const told = await faultOf('echo first >&2; echo "no such entry" >&2; exit 1');
  t.match(told, /status 1: no such entry$/);
  t.match(await faultOf(`echo ${CANARY}; echo "got ${CANARY}!" >&2; exit 1`), /status 1: got \*\*\*!$/);
  t.match(await faultOf('printf "\\033[31mred\\n\\n" >&2; exit 1'), /status 1: \[31mred$/);
  const long = await faultOf(`echo ${CANARY}; printf "%0190d${CANARY}${CANARY}" 0 >&2; exit 1`);
  t.match(long, /: 0{190}\*{6}$/, 'a secret cut off at the end of the line is replaced, too');
  t.match(await faultOf('printf "%0300d" 0 >&2; exit 1'), /: 0{200}$/);
  t.match(await faultOf('head -c 70000 /dev/zero | tr "\\0" x >&2; exit 1'), /status 1$/);
});

t.test('a fault holds no secret from elsewhere in the configuration', async (t) => {
  const script = (text: string) => JSON.stringify({ command: ['sh', '-c', text] });
  const text = `
baseUrl: https://api.example.com
credentials:
  other: { type: apiKey, key: { env: OTHER } }
  file: { type: apiKey, key: { file: /run/s } }
  printed: { type: apiKey, key: ${script('echo ZQSEC-printed')} }
  failing: { type: apiKey, key: ${script('echo "ZQSEC-env ZQSEC-file ZQSEC-printed ZQSEC-plain" >&2; exit 1')} }
callerKey: ZQSEC-plain
routes: [{ prefix: /, credential: other }]
`;
  const faults = await faultsOfYaml(text, { OTHER: 'ZQSEC-env' }, { '/run/s': 'ZQSEC-file\n' });
  t.same(faults, ['credentials.failing.key: names a command (sh) that ended with status 1: *** *** *** ***']);
});

t.test('a secret in place of its command is not shown', async (t) => {
  const env = { ...WITHOUT_SECRET, BEARERD_CLIENT_SECRET_COMMAND: CANARY };
  const [fault = ''] = await faultsOf({ env });
  t.match(fault, /names a command \(\/bin\/sh\) that ended with status 127: /);
  t.notMatch(fault, CANARY);
  for (const wrong of [
    `'${CANARY} show'`,
    `{ command: ${CANARY} }`,
    `{ command: [], ${CANARY}: x }`,
    `{ command: [true], ${CANARY} }`,
  ]) {
    const faults = await faultsOfYaml(yaml(`{ command: ${wrong} }`));
    t.not(faults.length, 0, wrong);
    t.notMatch(faults.join(), CANARY, wrong);
  }
});

t.test('a malformed command is a fault of its key', async (t) => {
  const rows: [string, RegExp][] = [
    ['{ command: pass }', /key\.command: must be a list of a program/],
    ['{ command: [] }', /key\.command: needs at least one entry/],
    ['{ command: [echo, x], timeout: 5 }', /key\.timeout: /],
    ['{ command: [echo, x], timeout: off }', /key\.timeout: /],
    ['{ command: [echo, x], timeuot: 5s }', /key\.timeuot: unknown key; did you mean .*timeout/],
    ['{ command: [echo, x], env: X }', /holds an unknown key/],
    [
      '{ timeout: 5s }',
      /key: must be text, \{env: NAME\}, \{file: PATH\} or \{command: \[PROGRAM, ARG, …\]\}$/,
    ],
  ];
  for (const [text, problem] of rows) t.match(await faultsOfYaml(yaml(text)), [problem], text);
});

t.test('all commands run at the same time, and their faults are reported with all others', async (t) => {
  const dir = t.testdir({});
  const meeting = (own: string, other: string) =>
    JSON.stringify({
      command: ['sh', '-c', `touch ${dir}/${own}; until [ -e ${dir}/${other} ]; do sleep 0.02; done; exit 4`],
    });
  const text = `
baseUrl: https://api.example.com
listen: nonsense
credentials:
  a: { type: apiKey, key: ${meeting('a', 'b')} }
  b: { type: apiKey, key: ${meeting('b', 'a')} }
routes: [{ prefix: /, credential: c }]
`;
  t.match(await faultsOfYaml(text), [
    /^credentials\.a\.key: names a command \(sh\) that ended with status 4/,
    /^credentials\.b\.key: names a command \(sh\) that ended with status 4/,
    /^listen: /,
    /^routes\[0\]\.credential: /,
  ]);
});

t.test('a command gets the environment of bearerd without its secrets', async (t) => {
  const set = { BEARERD_TEST_OTHER: 'seen', BEARERD_CLIENT_SECRET: CANARY, MY_KEY: CANARY };
  Object.assign(process.env, set);
  t.teardown(() => {
    for (const name of Object.keys(set)) delete process.env[name];
  });
  const command = [
    'sh',
    '-c',
    'echo "$BEARERD_TEST_OTHER-$BEARERD_CLIENT_SECRET-$MY_KEY-$BEARERD_API_KEY_COMMAND"',
  ];
  const text = `${sh('true')}callerKey: { env: MY_KEY }\n`.replace(
    /\{"command.*?\}/,
    JSON.stringify({ command }),
  );
  const config = await loadYaml(text, { MY_KEY: 'caller' });
  const key = config.credentials.get('key');
  t.equal(key?.kind === 'api-key' && key.key.expose(), 'seen---');
});

t.test('the path of a program is relative to the folder of the file', async (t) => {
  const dir = t.testdir({ 'bearerd.yaml': yaml('{ command: [./bin/print] }') });
  mkdirSync(join(dir, 'bin'));
  writeFileSync(join(dir, 'bin/print'), '#!/bin/sh\necho k-2\n', { mode: 0o755 });
  const config = await new ConfigurationSource({}, { configFile: join(dir, 'bearerd.yaml') }).load();
  t.equal(config.provenance['credentials.key.key'], 'bearerd.yaml:2 { command: ./bin/print … }');
});

t.test('a load that needs no secret runs no command', async (t) => {
  const begun = join(t.testdir({}), 'begun');
  const touch = JSON.stringify({ command: ['touch', begun] });
  const config = await loadFrom({
    env: {},
    files: {
      '/srv/app/bearerd.yaml': yaml(touch, `callerKey: ${touch}\nshare: { url: ${touch}, key: ${touch} }\n`),
    },
    commands: new SecretCommands({ standIns: true }),
  });
  t.same(config.warnings, []);
  t.equal(config.routes.length, 1);
  t.notOk(existsSync(begun));
});

t.test('without commands in the configuration secretCommands is empty', async (t) => {
  const config = await loadFrom({});
  t.equal(config.secretCommands.size, 0);
});

t.test(
  'a reload runs each command again; a failing one gives a warning, and its last value stays in use',
  async (t) => {
    const dir = t.testdir({ value: 'k-1', 'bearerd.yaml': '', other: 'x' });
    const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
    put('bearerd.yaml', yaml(JSON.stringify({ command: ['cat', join(dir, 'value')] })));
    const source = new ConfigurationSource({}, { configFile: join(dir, 'bearerd.yaml') });
    const load = async () => {
      const config = await source.load();
      const key = config.credentials.get('key');
      return { key: key?.kind === 'api-key' && key.key.expose(), warnings: config.warnings };
    };
    t.match(await load(), { key: 'k-1', warnings: [] });
    put('value', 'k-2');
    t.match(await load(), { key: 'k-2', warnings: [] });
    put('value', '');
    t.match(await load(), {
      key: 'k-2',
      warnings: [
        {
          key: 'credentials.key.key',
          problem: 'names a command (cat) that printed nothing; the last value goes on',
        },
      ],
    });
    put('value', 'k-3');
    t.match(await load(), { key: 'k-3', warnings: [] });
    put('bearerd.yaml', yaml('{ command: [false] }'.replace('false', "'false'")));
    await t.rejects(
      source.load(),
      /names a command \(false\) that ended with status 1/,
      'a changed command has no last value',
    );
  },
);

t.test('what a command gives before its turn changes only what is in use at its turn', async (t) => {
  const dir = t.testdir({ value: 'k-1', 'bearerd.yaml': '' });
  const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
  const prints = (...words: string[]) => put('bearerd.yaml', yaml(JSON.stringify({ command: words })));
  prints('cat', join(dir, 'value'));
  const source = new ConfigurationSource({}, { configFile: join(dir, 'bearerd.yaml') });
  const keyIn = ({ credentials }: Config) => {
    const key = credentials.get('key');
    return key?.kind === 'api-key' && key.key.expose();
  };
  await source.load();
  const runs: string[] = [];
  const run = async () => {
    const ran = await source.runCommands({ onRun: (_key, result) => runs.push(result) }, 'key');
    if (ran === undefined) throw new Error('no command has run');
    return ran;
  };
  put('value', 'k-2');
  const ran = await run();
  put('value', 'k-3');
  const changed = await source.loadSecrets(ran);
  t.same([keyIn(changed.config), changed.isChanged, runs], ['k-2', true, ['ok']], 'it does not run again');
  put('value', '');
  const failed = await run();
  put('value', 'k-4');
  await source.load();
  const kept = await source.loadSecrets(failed);
  t.same([keyIn(kept.config), kept.isChanged], ['k-4', false], 'a failure leaves the newer value in use');
  t.match(kept.config.warnings, [{ problem: /printed nothing; the last value goes on/ }]);
  const former = await run();
  prints('echo', 'k-5');
  await source.load();
  t.equal(keyIn((await source.loadSecrets(former)).config), 'k-5', 'a changed command is another one');
  t.equal(await source.runCommands({}, 'other'), undefined);
});

t.test('an abort signal ends running commands', async (t) => {
  const dir = t.testdir({ 'bearerd.yaml': yaml("{ command: [sleep, '600'] }") });
  const source = new ConfigurationSource({}, { configFile: join(dir, 'bearerd.yaml') });
  const loaded = source.load({ signal: AbortSignal.timeout(300) });
  await t.rejects(
    within(PATIENCE_MS, loaded, () => 'the load waits for the command'),
    /no longer wanted/,
  );
});
