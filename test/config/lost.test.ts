import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ConfigError, ConfigFileError } from '../../src/base/config-error.ts';
import type { Config } from '../../src/config/config.ts';
import { ConfigurationSource } from '../../src/config/source.ts';

// A reload may find a file that is empty, missing or cut off, or a pipe that was already read.

t.jobs = 8;
const AT_ONCE = { buffered: true };
const ENV = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_API_KEY: 'key-1' };
const ROUTES = 'routes:\n  - { prefix: /, credential: apiKey }\n  - { prefix: /admin, credential: deny }\n';
const KEY = 'callerKey: caller-key-0001\n';

const PIPE = 'it is a pipe or a device, and no file';

/** Puts a named pipe without a writer at a path, in place of what was there. */
function pipeAt(t: Test, path: string): void {
  rmSync(path, { force: true });
  t.equal(spawnSync('mkfifo', [path]).status, 0);
}

/** Between two looks at a file nothing changes it. */
const NO_PAUSE = async () => {};

type Env = Readonly<Record<string, string>>;

interface World {
  readonly t: Test;
  readonly at: (name: string) => string;
  readonly put: (name: string, text: string) => void;
  /** Loads or reloads the configuration; gives the denied prefixes. */
  readonly load: () => Promise<readonly string[]>;
}

/** Loads, and gives the denied prefixes. */
async function denied(source: ConfigurationSource): Promise<string[]> {
  const { routes } = await source.load();
  return routes.filter(({ credential }) => credential === 'deny').map(({ prefix }) => prefix);
}

function world(
  t: Test,
  files: Record<string, string>,
  { env = ENV as Env, name = 'bearerd.yaml', pause = NO_PAUSE } = {},
): World {
  const dir = t.testdir(files);
  const at = (file: string) => join(dir, file);
  const source = new ConfigurationSource(env, { configFile: at(name) }, pause);
  return { t, at, put: (file, text) => writeFileSync(at(file), text), load: () => denied(source) };
}

/** Each replaces a valid configuration with `deny` routes and a caller key. */
const LOSSES: Readonly<Record<string, [lose: (world: World) => void, words: RegExp]>> = {
  'an empty file': [({ put }) => put('bearerd.yaml', ''), /bearerd\.yaml: is empty; .*restart/],
  'a file of comments': [({ put }) => put('bearerd.yaml', '# nothing\n---\n'), /bearerd\.yaml: is empty/],
  'an empty map': [({ put }) => put('bearerd.yaml', '{}\n'), /bearerd\.yaml: is empty/],
  'a file that is gone': [({ at }) => rmSync(at('bearerd.yaml')), /bearerd\.yaml: no such file/],
  'a folder in place of the file': [
    ({ at }) => {
      rmSync(at('bearerd.yaml'));
      mkdirSync(at('bearerd.yaml'));
    },
    /bearerd\.yaml: it is a folder/,
  ],
  'a pipe in place of the file': [
    ({ at, t }) => pipeAt(t, at('bearerd.yaml')),
    new RegExp(`bearerd\\.yaml: ${PIPE}`),
  ],
  'a file cut off before its routes': [({ put }) => put('bearerd.yaml', KEY), /routes: are missing.*restart/],
  'a file cut off within a key': [({ put }) => put('bearerd.yaml', `${KEY}rou`), /bearerd\.yaml/],
  'a file without its caller key': [
    ({ put }) => put('bearerd.yaml', ROUTES),
    /callerKey: is missing.*restart/,
  ],
  'a file that is no map': [({ put }) => put('bearerd.yaml', 'null and void'), /must be a map/],
};

for (const [title, [lose, words]] of Object.entries(LOSSES)) {
  t.test(
    `a reload refuses ${title} with one fault, and accepts the file once it is whole`,
    AT_ONCE,
    async (t) => {
      const found = world(t, { 'bearerd.yaml': KEY + ROUTES });
      t.same(await found.load(), ['/admin']);
      lose(found);
      const error = await found.load().then(
        () => t.fail('the file was accepted'),
        (refused) => refused,
      );
      t.ok(error instanceof ConfigError || error instanceof ConfigFileError);
      t.match(error.message, words);
      t.equal(error.message.split('\n').length, 1, error.message);
      rmSync(found.at('bearerd.yaml'), { recursive: true, force: true });
      found.put('bearerd.yaml', KEY + ROUTES);
      t.same(await found.load(), ['/admin']);
    },
  );
}

t.test(
  'the remedy for lost routes does not suggest the credential of a route with a host',
  AT_ONCE,
  async (t) => {
    const ofHost = '  - { host: a.localhost, prefix: /, credential: none }\n';
    for (const [routes, offered] of [
      [`routes:\n${ofHost}`, 'NAME'],
      [`routes:\n${ofHost}  - { prefix: /x, credential: apiKey }\n`, 'apiKey'],
    ] as const) {
      const { load, put } = world(t, { 'bearerd.yaml': KEY + routes });
      await load();
      put('bearerd.yaml', KEY);
      await t.rejects(load(), { message: new RegExp(`write \\{ prefix: /, credential: ${offered} \\}`) });
    }
  },
);

t.test(
  'the first load accepts an empty file, and a reload accepts the file once it is filled',
  AT_ONCE,
  async (t) => {
    const { load, put } = world(t, { 'bearerd.yaml': '' });
    t.same(await load(), []);
    t.same(await load(), []);
    put('bearerd.yaml', ROUTES);
    t.same(await load(), ['/admin']);
  },
);

t.test('routes and keys that come from variables are not lost with the file', AT_ONCE, async (t) => {
  const dir = t.testdir({ 'bearerd.yaml': KEY + ROUTES });
  const env = { ...ENV, BEARERD_ROUTES: '/=apiKey,/closed=deny', BEARERD_CALLER_KEY: 'caller-key-0002' };
  const path = join(dir, 'bearerd.yaml');
  const source = new ConfigurationSource(env, { configFile: path });
  t.same(await denied(source), ['/closed']);
  writeFileSync(path, 'log: { level: debug }\n');
  t.same(await denied(source), ['/closed']);
});

t.test('a reload refuses a missing file that was in use, in a default place or .env', AT_ONCE, async (t) => {
  for (const name of ['bearerd.yaml', '.env']) {
    const text = name === '.env' ? 'BEARERD_ROUTES=/=apiKey,/admin=deny\n' : ROUTES;
    const dir = t.testdir({ [name]: text });
    // A process has one working directory, so this needs another process.
    const script = `
      const { ConfigurationSource } = await import(${JSON.stringify(new URL('../../src/config/source.ts', import.meta.url).href)});
      const { rmSync, writeFileSync } = await import('node:fs');
      const source = new ConfigurationSource(${JSON.stringify(ENV)});
      const look = () => source.load().then(({ routes }) => console.log(routes.length), ({ message }) => console.log(message));
      await look();
      writeFileSync(${JSON.stringify(name)}, '');
      await look();
      rmSync(${JSON.stringify(name)});
      await look();
    `;
    const args = ['--input-type=module', '--no-warnings', '-e', script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' });
    const [first, emptied, gone] = stdout.split('\n');
    t.equal(first, '2', stderr);
    t.match(emptied, /is empty/);
    t.match(gone, /does not exist any more/);
  }
});

t.test('a reload keeps the first content of a pipe', AT_ONCE, async (t) => {
  const dir = t.testdir({ key: 'key-2' });
  const at = (name: string) => join(dir, name);
  for (const name of ['config', 'secret']) pipeAt(t, at(name));
  const writers = [
    ['config', `baseUrl: https://api.example.com\\n${ROUTES.replaceAll('\n', '\\n')}`],
    ['secret', 'key-1'],
  ].map(([name, text]) => `printf '${text}' > '${at(name!)}' &`);
  spawnSync('sh', ['-c', writers.join('\n')], { stdio: 'ignore' });
  const source = new ConfigurationSource(
    { BEARERD_API_KEY_FILE: at('secret') },
    { configFile: at('config') },
  );
  const first = await source.load();
  t.same(source.changing(first), [], 'a pipe is not watched');
  const keyOf = ({ credentials }: Config) => {
    const credential = credentials.get('apiKey');
    return credential?.kind === 'api-key' ? credential.key.expose() : undefined;
  };
  const again = await source.load();
  t.same(again.routes, first.routes);
  t.same([keyOf(first), keyOf(again)], ['key-1', 'key-1']);
  rmSync(at('secret'));
  renameSync(at('key'), at('secret'));
  t.equal(keyOf(await source.load()), 'key-2', 'a file in place of the pipe is read');
  pipeAt(t, at('secret'));
  await t.rejects(source.load(), { message: new RegExp(PIPE) }, 'the file was the last that it held');
});

t.test('a reload refuses a file that has become a pipe, and waits for no writer', AT_ONCE, async (t) => {
  const { at, load, put } = world(t, {
    'bearerd.yaml': `${ROUTES}callerKey: { file: ./key }\n`,
    key: 'caller-key-1',
  });
  t.same(await load(), ['/admin']);
  pipeAt(t, at('key'));
  const faults = [{ key: 'callerKey', problem: `cannot read ./key: ${PIPE}` }];
  await t.rejects(load(), { name: 'ConfigError', faults });
  rmSync(at('key'));
  put('key', 'caller-key-2');
  t.same(await load(), ['/admin'], 'a file again');
});

t.test('a reload waits until a file is written completely', AT_ONCE, async (t) => {
  const whole = `${KEY}${ROUTES}  - { prefix: /more, credential: deny }\n`;
  const written = [whole.slice(0, 100), whole.slice(0, 120), '', whole];
  const { load, put } = world(t, { 'bearerd.yaml': KEY + ROUTES }, { pause: async () => write() });
  const write = () => put('bearerd.yaml', written.shift() ?? whole);
  await load();
  t.same(await load(), ['/admin', '/more']);
  t.same(written, []);
});

t.test('a reload refuses a file that keeps changing', AT_ONCE, async (t) => {
  let line = 0;
  const pause = async () => put('bearerd.yaml', `${KEY}${ROUTES}# ${line++}\n`);
  const { load, put } = world(t, { 'bearerd.yaml': KEY + ROUTES }, { pause });
  await load();
  await t.rejects(load(), { name: 'ConfigFileError', reason: /still being written/ });
  t.ok(line > 2, `${line} looks`);
});
