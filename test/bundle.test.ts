import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportJWK } from 'jose';
import t, { type Test } from 'tap';
import { bundle } from '../scripts/bundle.ts';
import { startMockApi } from '../src/mock/mock-api.ts';
import { MAIN } from './support/cli.ts';
import { identityProvider } from './support/identity-provider.ts';
import { saidBy } from './support/internal-errors.ts';
import { OtlpCollector } from './support/otlp-collector.ts';
import { plainNode } from './support/plain-node.ts';
import { until as patiently, within } from './support/raw-client.ts';
import { NO_REDIS, RedisServer } from './support/redis.ts';

// Users run the bundle; most tests run src/. These tests check that the bundle lacks nothing that it leaves out or
// replaces.
const PACKAGE = fileURLToPath(new URL('../package.json', import.meta.url));

const LIMIT_MS = 60_000;
const root = t.testdir();
const main = join(root, 'dist/main.js');

/** Runs the bundle in a folder without node_modules. */
function run(t: Test, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(...plainNode([main, ...args], env.NODE_OPTIONS), {
    env: { HOME: root, ...env },
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = saidBy(t, child);
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(output())));
  const closed = within(LIMIT_MS, ended, () => `the bundle does not end: ${output()}`);
  closed.catch(() => {}); // Not every test waits for the end.
  /** Waits for the pattern in the output, and gives its first group. */
  const until = (pattern: RegExp) =>
    patiently(
      () => {
        const found = pattern.exec(output())?.[1];
        if (found === undefined && child.exitCode !== null)
          throw new Error(`ended before ${pattern}: ${output()}`);
        return found;
      },
      `no ${pattern}`,
      LIMIT_MS,
    );
  return { child, closed, until };
}

t.before(async () => {
  if (MAIN.endsWith('.js')) cpSync(dirname(MAIN), join(root, 'dist'), { recursive: true });
  else await bundle(join(root, 'dist'));
  copyFileSync(PACKAGE, join(root, 'package.json'));
});

t.test('without node_modules the bundle logs in, forwards and counts', async (t) => {
  const env = { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
  const { child, closed, until } = run(t, ['demo'], env);
  const proxy = await until(/"urls":\["([^"]+)"/);
  const admin = await until(/"admin":\["([^"]+)"/);
  const answer = await fetch(`${proxy}/echo`);
  t.equal(answer.status, 200);
  t.match(await answer.text(), /"authorization":{"kind":"token"}/);
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  t.match(
    metrics,
    /bearerd_requests_total\{route="\/",credential="token",method="GET",code="200",caller=""\} 1\n/,
  );
  t.match(metrics, /process_cpu_seconds_total /);
  const page = await fetch(`${admin}/`);
  t.equal(page.status, 200);
  t.match(await page.text(), /<script type="module" src="page\/main.js">/);
  const script = await fetch(`${admin}/page/main.js`);
  t.equal(script.status, 200);
  t.match(await script.text(), /EventSource/);
  child.kill('SIGTERM');
  t.match(await closed, /"stopped"/);
});

t.test('the bundle finds a token endpoint by its issuer, and signs an assertion', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { issuer } = await identityProvider(t, [
    {
      client_id: 'c',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] },
    },
  ]);
  writeFileSync(join(root, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const client =
    'clientAuthentication: privateKeyJwt, clientId: c, algorithm: ES256, privateKey: { file: key.pem }';
  const file = join(root, 'issuer.yaml');
  writeFileSync(
    file,
    `baseUrl: https://api.example.com\ncredentials: { token: { type: oauth2, issuer: '${issuer}', ${client} } }\n`,
  );
  t.match(await run(t, ['token', '--config', file]).closed, /^[\w-]{20,}\n$/);
});

t.test(
  'the bundle shares a token through Redis, whose client is in a file of its own',
  { skip: NO_REDIS },
  async (t) => {
    const redis = await RedisServer.startedFor(t);
    const api = await startMockApi();
    t.teardown(() => api.close());
    const { clientId, clientSecret } = api.credentials;
    const { until } = run(t, ['start'], {
      BEARERD_BASE_URL: api.url,
      BEARERD_CLIENT_ID: clientId,
      BEARERD_CLIENT_SECRET: clientSecret,
      BEARERD_LISTEN: '127.0.0.1:0',
      BEARERD_ADMIN_LISTEN: 'off',
      BEARERD_SHARE_URL: redis.url,
    });
    await until(/(tokens are shared)/);
    await until(/(logged in)/);
    await patiently(async () => (await redis.keys('*:token')).length === 1, 'Redis has no token');
    const parts = readdirSync(join(root, 'dist')).filter(
      (name) => name.endsWith('.js') && readFileSync(join(root, 'dist', name)).includes('RedisSocket'),
    );
    t.equal(parts.length, 1);
    t.match(parts[0], /^fleet-/);
  },
);

t.test('a healthcheck of a ready proxy loads one small file, and no HTTP client of Node', async (t) => {
  const proxy = run(t, ['demo'], { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: '127.0.0.1:0' });
  const admin = await proxy.until(/"admin":\["http:\/\/([^"]+)"/);
  await proxy.until(/(logged in)/);
  const hook = `import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url.split('/').at(-1)); return next(url, context); } });
process.on('exit', (code) => console.log(JSON.stringify({ code, loaded, ofNode: process.moduleLoadList })));`;
  const env = {
    BEARERD_ADMIN_LISTEN: admin!,
    NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(hook).toString('base64')}`,
  };
  const { code, loaded, ofNode } = JSON.parse(await run(t, ['healthcheck'], env).closed);
  t.equal(code, 0);
  t.same(loaded, ['main.js', 'quick-healthcheck.js']);
  const dear = ofNode.filter((name: string) =>
    /^NativeModule (_http_|http|https|dns|crypto|tls)\b/.test(name),
  );
  t.same(dear, []);
});

t.test('the bundle has the parts that are loaded on demand', async (t) => {
  const file = join(root, 'given.yaml');
  writeFileSync(file, 'baseUrl: https://api.example.com\ncredentials:\n  apiKey: {type: apiKey, key: k}\n');
  t.match(await run(t, ['check', '--config', file]).closed, /# The configuration is valid/);
  t.match(await run(t, ['--help']).closed, /healthcheck/);
  const pretty = run(t, ['demo'], {
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: 'off',
    BEARERD_LOG_FORMAT: 'pretty',
  });
  t.match(await pretty.until(/(\d listening)/), /listening/);
});

t.test('the bundle sends traces if configured, and otherwise loads nothing of OpenTelemetry', async (t) => {
  const collector = await OtlpCollector.startedFor(t);
  const listen = { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: 'off' };
  const hook = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write('LOADED ' + url + '\\n'); return next(url, context); } });`;
  const hooked = {
    NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(hook).toString('base64')}`,
  };
  const parts = async (env: NodeJS.ProcessEnv) => {
    const { child, closed, until } = run(t, ['demo'], { ...listen, ...hooked, ...env });
    t.equal((await fetch(`${await until(/"urls":\["([^"]+)"/)}/echo`)).status, 200);
    child.kill('SIGTERM');
    const files = [...(await closed).matchAll(/LOADED file:\/\/(\S+\.js)/g)].map(([, file]) => file!);
    return files.map((file) => readFileSync(file, 'utf8')).join('\n');
  };
  t.match(await parts({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }), /OTEL_TRACES_SAMPLER/);
  t.same(
    collector.spans.map(({ kind }) => kind),
    ['client', 'server'],
  );
  t.notMatch(await parts({}), /opentelemetry\.js\.api|OTEL_TRACES_SAMPLER|createContextKey/);
});

t.test(
  'the bill of materials lists every package in the bundle with its version, licence and hash',
  async (t) => {
    const bill = JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8'));
    t.match(bill, {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { name: 'bearerd' } },
    });
    const named = bill.components.map(
      ({ group, name, version }: Record<string, string>) => `${group ? `${group}/` : ''}${name} ${version}`,
    );
    const licences = readFileSync(join(root, 'dist/THIRD-PARTY.txt'), 'utf8');
    t.same(
      named,
      [...licences.matchAll(/^={80}\n(\S+ \S+) \(/gm)].map(([, name]) => name),
    );
    for (const { purl, licenses, hashes } of bill.components) {
      t.match(purl, /^pkg:npm\/(?:%40[^/]+\/)?[^/]+@\d+\.\d+\.\d+/);
      t.match(licenses, [/./], purl);
      t.match(hashes, [{ alg: 'SHA-512', content: /^[0-9a-f]{128}$/ }], purl);
    }
    const refs = [bill.metadata.component, ...bill.components].map((one) => one['bom-ref']);
    t.same(refs.length, new Set(refs).size, 'each bom-ref is unique');
    t.same(bill.dependencies[0].dependsOn, refs.slice(1));
  },
);

t.test('THIRD-PARTY.txt has the licence of each package in the bundle', async (t) => {
  const text = readFileSync(join(root, 'dist/THIRD-PARTY.txt'), 'utf8');
  for (const name of ['fastify', '@fastify/http-proxy', 'undici', 'pino', 'env-schema', 'yaml']) {
    t.match(text, new RegExp(`^${name} \\d`, 'm'), name);
  }
  t.match(text, /^@redis\/client \d.*\n\nMIT License\n\nCopyright/m, 'a package without a licence file');
  for (const entry of text.split(/^={80}\n/m).slice(1)) {
    const [title = '', ...paragraphs] = entry.split('\n\n');
    const terms = paragraphs.join('\n\n');
    t.match(terms, /copyright/i, title);
    t.ok(terms.length > 400, `${title}: ${terms.length} characters`);
  }
});
