import { existsSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Reloads } from '../../src/app/reloads.ts';
import type { Event } from '../../src/base/events.ts';
import type { Config } from '../../src/config/config.ts';
import { ConfigurationSource } from '../../src/config/source.ts';
import { readTls } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';

// These tests mostly wait for polls of files.
t.jobs = 6;
const AT_ONCE = { buffered: true };

const PAIRS = ['client', 'server', 'elsewhere'].map((name) => ({
  cert: readTls(`${name}.pem`).toString(),
  key: readTls(`${name}.key`).toString(),
}));
const [FIRST, SECOND, THIRD] = PAIRS as [Pair, Pair, Pair];
type Pair = { readonly cert: string; readonly key: string };

/** Watches a certificate, its key and an API key; records the configurations in use, and the events. */
async function following(t: Test, at: (name: string) => string) {
  const source = new ConfigurationSource({
    BEARERD_BASE_URL: 'https://localhost',
    BEARERD_API_KEY_FILE: at('api-key'),
    BEARERD_TLS_CERT_FILE: at('cert'),
    BEARERD_TLS_KEY_FILE: at('key'),
  });
  const followed = await followingSource(t, source);
  const { taken } = followed;
  const uses = (pair: Pair) =>
    until(() => {
      const tls = taken.at(-1)?.tls;
      return tls?.cert?.expose() === pair.cert && tls.key?.expose() === pair.key;
    }, 'the new pair is not used');
  return { ...followed, uses };
}

async function followingSource(t: Test, source: ConfigurationSource) {
  const taken: Config[] = [];
  const told: Event[] = [];
  const reloads = new Reloads({
    config: await source.load(),
    source,
    apply: (config) => {
      taken.push(config);
      return [];
    },
    observe: (event) => told.push(event),
  });
  t.teardown(() => reloads.stop());
  const refused = () => told.filter(({ type }) => type === 'reload-refused').length;
  return { reloads, taken, told, refused };
}

function folder(t: Test) {
  const dir = t.testdir({ 'api-key': 'key-1', ...FIRST });
  const at = (name: string) => join(dir, name);
  const put = (name: string, content: string) => writeFileSync(at(name), content);
  return { at, put };
}

t.test('a warning about a setting is logged once, and again only if it had gone away', AT_ONCE, async (t) => {
  const { at, put } = folder(t);
  put('api-key', '/run/secrets/key');
  const { told, taken, reloads } = await following(t, at);
  const doubts = () => told.filter(({ type }) => type === 'doubtful-setting').length;
  t.equal(doubts(), 1);
  for (const [content, expected] of [
    ['/run/secrets/key', 1],
    ['a-key', 1],
    ['/run/secrets/key', 2],
  ] as const) {
    const before = taken.length;
    put('api-key', content);
    reloads.all('test');
    await until(() => taken.length > before, 'the configuration is not reloaded');
    t.equal(doubts(), expected);
  }
});

t.test(
  'a certificate and its key are used together, in either order, however late the second one comes',
  AT_ONCE,
  async (t) => {
    const { at, put } = folder(t);
    const { uses, refused, taken } = await following(t, at);
    put('cert', SECOND.cert);
    await until(() => refused() === 1, 'a certificate without its key is not refused');
    put('key', SECOND.key);
    await uses(SECOND);
    put('key', THIRD.key);
    await until(() => refused() === 2, 'a certificate without its key is not refused');
    put('cert', THIRD.cert);
    await uses(THIRD);
    t.equal(taken.length, 2);
  },
);

t.test(
  'a certificate and its key are used in the end, after a missing file and a wrong key',
  AT_ONCE,
  async (t) => {
    const { at, put } = folder(t);
    const { uses, refused } = await following(t, at);
    unlinkSync(at('key'));
    put('cert', SECOND.cert);
    await until(() => refused() === 1, 'a certificate without its key is not refused');
    put('key', THIRD.key);
    await until(() => refused() === 2, 'a wrong key is not refused');
    put('key', SECOND.key);
    await uses(SECOND);
  },
);

t.test('a certificate and its key that Kubernetes swaps by ..data are used', AT_ONCE, async (t) => {
  const dir = t.testdir({ '..v1': { 'api-key': 'key-1', ...FIRST } });
  const at = (name: string) => join(dir, name);
  symlinkSync('..v1', at('..data'));
  for (const name of ['api-key', 'cert', 'key']) symlinkSync(`..data/${name}`, at(name));
  const { uses, refused } = await following(t, at);
  mkdirSync(at('..v2'));
  for (const [name, content] of Object.entries({ 'api-key': 'key-1', ...SECOND })) {
    writeFileSync(join(at('..v2'), name), content);
  }
  symlinkSync('..v2', at('..tmp'));
  renameSync(at('..tmp'), at('..data'));
  await uses(SECOND);
  t.equal(refused(), 0);
});

t.test('a faulty file blocks neither another file nor a certificate and its key', AT_ONCE, async (t) => {
  const { at, put } = folder(t);
  const { uses, refused, taken } = await following(t, at);
  put('api-key', 'two\nlines');
  await until(() => refused() === 1, 'a faulty key is not refused');
  put('cert', SECOND.cert);
  await until(() => refused() === 2, 'a certificate without its key is not refused');
  put('key', SECOND.key);
  await uses(SECOND);
  put('api-key', 'key-2');
  await until(() => taken.length === 2, 'the good key is not used');
  t.equal(taken.at(-1)?.tls.cert?.expose(), SECOND.cert);
});

t.test(
  'a reload that finds a new certificate without its key is refused, and both are used once the key is there',
  AT_ONCE,
  async (t) => {
    const { at, put } = folder(t);
    const { reloads, uses, refused } = await following(t, at);
    put('cert', SECOND.cert);
    void reloads.all('SIGHUP');
    await until(() => refused() === 2, 'a certificate without its key is not refused twice');
    put('key', SECOND.key);
    await uses(SECOND);
  },
);

for (const [what, begin] of [
  ['after a refused login', (reloads: Reloads) => reloads.renewSecrets('printed')],
  ['at a reload', (reloads: Reloads) => reloads.all('SIGHUP')],
] as const) {
  t.test(`a command that runs ${what} holds up no changed file, and both are used`, AT_ONCE, async (t) => {
    const dir = t.testdir({ store: 'printed-1', file: 'filed-1' });
    const at = (name: string) => join(dir, name);
    const put = (name: string, content: string) => writeFileSync(at(name), content);
    const script = `cat store; if [ -e wait ]; then touch waits; while [ ! -e go ]; do sleep 0.1; done; fi`;
    put('program', `#!/bin/sh\ncd ${dir} && ${script}\n`);
    const printed = { type: 'apiKey', key: { command: ['sh', at('program')], timeout: '10m' } };
    const filed = { type: 'apiKey', key: { file: at('file') } };
    const routes = [{ prefix: '/', credential: 'filed' }];
    const credentials = { printed, filed };
    put('bearerd.yaml', JSON.stringify({ baseUrl: 'https://localhost', credentials, routes }));
    const source = new ConfigurationSource({}, { configFile: at('bearerd.yaml') });
    const { reloads, taken, refused } = await followingSource(t, source);
    const keys = () =>
      ['printed', 'filed'].map((name) => {
        const credential = taken.at(-1)?.credentials.get(name);
        return credential?.kind === 'api-key' && credential.key.expose();
      });
    put('store', 'printed-2');
    put('wait', '');
    const begun = begin(reloads);
    await until(() => existsSync(at('waits')), 'the command does not run');
    put('file', 'filed-2');
    await until(() => keys().join() === 'printed-1,filed-2', 'the changed file is not used');
    put('go', '');
    await begun;
    t.same(keys(), ['printed-2', 'filed-2']);
    t.equal(refused(), 0);
  });
}

t.test('after a stop neither a request nor a changed file reloads the configuration', AT_ONCE, async (t) => {
  const { at, put } = folder(t);
  const { reloads, taken, told } = await following(t, at);
  void reloads.all('SIGHUP');
  put('api-key', 'key-2');
  reloads.stop();
  void reloads.all('SIGHUP');
  await sleep(2_500);
  t.same([taken, told], [[], []]);
});
