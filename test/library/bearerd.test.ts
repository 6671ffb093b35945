import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ConfigObject } from '../../src/library/config-object.ts';
import { type Bearerd, ConfigError, createBearerd, type LibraryOptions } from '../../src/library/index.ts';
import { startMockApi } from '../../src/mock/mock-api.ts';
import { hostLogFor } from '../support/internal-errors.ts';
import { until } from '../support/raw-client.ts';

const api = await startMockApi();
t.teardown(() => api.close());
const { clientId, clientSecret } = api.credentials;

const CONFIG: ConfigObject = {
  baseUrl: api.url,
  listen: ['127.0.0.1:0'],
  admin: { listen: 'off' },
  credentials: { token: { type: 'session', clientId, clientSecret } },
};

async function opened(t: Test, config: ConfigObject = CONFIG, options?: LibraryOptions): Promise<Bearerd> {
  const bearerd = await createBearerd(config, { log: hostLogFor(t), ...options });
  t.teardown(() => bearerd.close());
  return bearerd;
}

async function faultAt(t: Test, opening: Promise<unknown>, key: string): Promise<void> {
  t.match(await opening.catch((error: unknown) => error), { faults: [{ key }] });
}

const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);

/** The output on stdout and stderr while `run` runs. */
async function written(run: () => Promise<void>): Promise<string> {
  const { write: out } = process.stdout;
  const { write: err } = process.stderr;
  let text = '';
  const note = ((chunk: string) => {
    text += chunk;
    return true;
  }) as typeof out;
  process.stdout.write = note;
  process.stderr.write = note;
  try {
    await run();
  } finally {
    process.stdout.write = out;
    process.stderr.write = err;
  }
  return text;
}

t.test('a program opens a proxy, waits until it is ready, calls through it and closes it', async (t) => {
  const bearerd = await opened(t);
  await bearerd.ready();
  t.equal(bearerd.status().ready, true);
  t.same(bearerd.adminUrls, []);
  const answer = await fetch(`${bearerd.urls[0]}/echo`);
  t.match(await answer.text(), /"authorization":\{"kind":"token"\}/);
  await bearerd.close();
  await t.rejects(fetch(`${bearerd.urls[0]}/echo`));
  await t.rejects(bearerd.ready(), { code: 'closed' });
});

t.test('createBearerd adds no handler of signals or exceptions, and writes no output', async (t) => {
  const before = listeners();
  let during: unknown;
  const text = await written(async () => {
    const bearerd = await createBearerd(CONFIG);
    await bearerd.ready();
    await (await fetch(`${bearerd.urls[0]}/echo`)).text();
    during = listeners();
    await bearerd.close();
  });
  t.same(during, before);
  t.equal(text, '');
});

t.test(
  'createBearerd throws one ConfigError with every fault, named by its key, without secrets',
  async (t) => {
    const faulty = {
      listen: 'nowhere',
      credentials: { token: { type: 'session', clientId: 'id', clientSecret: 12345 } },
    } as unknown as ConfigObject;
    const error = await createBearerd(faulty).catch((thrown: unknown) => thrown);
    t.type(error, ConfigError);
    const { faults, message } = error as ConfigError;
    t.same(
      faults.map(({ key }) => key),
      ['baseUrl', 'credentials.token.clientSecret', 'listen'],
    );
    t.notMatch(message, /12345/);
    for (const nothing of [undefined, null, [], 'bearerd.yaml'])
      await t.rejects(createBearerd(nothing as never), { code: 'config-invalid' });
  },
);

t.test(
  'createBearerd reads neither .env nor the environment, only variables that the program passes',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'bearerd-'));
    const before = { cwd: process.cwd(), variable: process.env.BEARERD_BASE_URL };
    t.teardown(() => {
      process.chdir(before.cwd);
      delete process.env.BEARERD_BASE_URL;
      rmSync(folder, { recursive: true });
    });
    writeFileSync(join(folder, '.env'), 'BEARERD_BASE_URL=http://127.0.0.1:1\n');
    writeFileSync(join(folder, 'bearerd.yaml'), 'baseUrl: http://127.0.0.1:1\n');
    process.chdir(folder);
    process.env.BEARERD_BASE_URL = 'http://127.0.0.1:1';
    const { baseUrl: _, ...rest } = CONFIG;
    await faultAt(t, createBearerd(rest), 'baseUrl');
    const secret = { ...CONFIG, credentials: { apiKey: { type: 'apiKey', key: { env: 'KEY' } } } } as const;
    await faultAt(t, createBearerd(secret), 'credentials.apiKey.key');
    const bearerd = await opened(t, secret, { env: { KEY: api.credentials.apiKey } });
    await bearerd.ready();
    t.equal((await fetch(`${bearerd.urls[0]}/echo`)).status, 200);
  },
);

t.test("createBearerd does not change the program's object", async (t) => {
  const command = ['/bin/echo', 'token'];
  const config: ConfigObject = { ...CONFIG, credentials: { token: { type: 'exec', command } } };
  const before = structuredClone(config);
  await opened(t, config);
  t.same(config, before);
  t.equal(Object.isFrozen(command), false);
});

t.test('close rejects ready(), and may be called twice', async (t) => {
  const hopeless: ConfigObject = {
    ...CONFIG,
    credentials: { token: { type: 'session', clientId, clientSecret: 'wrong' } },
  };
  const bearerd = await opened(t, hopeless);
  const ready = t.rejects(bearerd.ready(), { code: 'closed' });
  await until(() => bearerd.status().credentials.token?.state === 'refused', 'not refused');
  await Promise.all([bearerd.close(), bearerd.close()]);
  await ready;
});

t.test('close finishes the requests under way', async (t) => {
  const bearerd = await opened(t);
  await bearerd.ready();
  const response = await fetch(`${bearerd.urls[0]}/echo?delay=1`);
  await bearerd.close();
  t.match(await response.text(), /"authorization":\{"kind":"token"\}/);
});

t.test("the program's logger gets the events, and no secret", async (t) => {
  const lines: unknown[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    lines.push({ level, message, ...fields });
  const log = { info: write('info'), warn: write('warn'), error: write('error') };
  const bearerd = await opened(t, CONFIG, { log });
  await bearerd.ready();
  await (await fetch(`${bearerd.urls[0]}/echo?q=1`)).text();
  await until(() => lines.some((line) => (line as { message: string }).message === 'request'), 'no line');
  t.match(lines, [
    { level: 'info', message: /logged in/, credential: 'token' },
    { level: 'info', message: 'request', path: '/echo', status: 200 },
  ]);
  t.notMatch(JSON.stringify(lines), new RegExp(clientSecret));
});

t.test('a changed secret file is used', async (t) => {
  const file = join(t.testdir({ secret: 'wrong' }), 'secret');
  const config: ConfigObject = {
    ...CONFIG,
    credentials: { token: { type: 'session', clientId, clientSecret: { file } } },
  };
  const bearerd = await opened(t, config);
  await until(() => bearerd.status().credentials.token?.state === 'refused', 'not refused');
  writeFileSync(file, clientSecret);
  await bearerd.ready();
  t.equal((await fetch(`${bearerd.urls[0]}/echo`)).status, 200);
});

t.test('two proxies in one process are independent', async (t) => {
  const [one, other] = await Promise.all([opened(t), opened(t)]);
  await Promise.all([one.ready(), other.ready()]);
  await one.close();
  t.equal((await fetch(`${other.urls[0]}/echo`)).status, 200);
});
