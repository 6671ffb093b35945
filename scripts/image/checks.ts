import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import type { Engine } from './engine.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const LIMIT_MS = 60_000;

/** What a check has: the engine, the image's name, a folder for its files, and where to put figures. */
export interface Setting {
  readonly engine: Engine;
  readonly image: string;
  readonly work: string;
  readonly figures: Record<string, string>;
}
export type Check = (setting: Setting) => Promise<void>;

interface Probe {
  readonly exec?: { readonly command: readonly string[] };
  readonly httpGet?: { readonly path: string };
}
interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe?: Probe;
}

const RUN = ['run', '--detach', '--pull', 'never', '--health-interval', 'disable'];
/** As deploy/kubernetes has it in securityContext. */
const HARDENED = [
  '--user',
  '1000:1000',
  '--read-only',
  '--cap-drop',
  'all',
  '--security-opt',
  'no-new-privileges',
];
const SECRETS = {
  client_id: 'demo-service-account',
  client_secret: 'demo-client-secret',
  api_key: 'demo_key_0123456789',
  caller_key: 'a-caller-key',
};
const MOCK = ['mock', '--listen', '127.0.0.1:9190'];

/** What they start; those first that use another's network. */
export const CONTAINERS = ['published', 'sidecar', 'standalone', 'app', 'api'];

export const CHECKS: Readonly<Record<string, Check>> = {
  'it says what it is': saysWhatItIs,
  'the line of the README serves a published port to who has the caller key': publishedPort,
  'a hardened sidecar answers its probes, serves, and ends when it is told to': sidecar,
  'a standalone answers its probes by HTTP, and serves by the name of its Service': standalone,
};

async function saysWhatItIs({ engine, image, figures }: Setting): Promise<void> {
  const [{ Config, Size }] = JSON.parse(engine.podman('image', 'inspect', image));
  const { version } = JSON.parse(read('package.json'));
  const labels = (name: string) => Config.Labels[`org.opencontainers.image.${name}`];
  assert.deepEqual(
    [labels('title'), labels('licenses'), labels('version')],
    ['bearerd', 'Apache-2.0', version],
  );
  assert.match(labels('revision'), /^[0-9a-f]{40}$/);
  assert.equal(Config.User, '1000:1000');
  assert.equal(
    engine.podman('run', '--rm', '--network', 'none', '--entrypoint', 'bearerd', image, '--version'),
    version,
  );
  const [{ Size: base }] = JSON.parse(engine.podman('image', 'inspect', labels('base.name')));
  figures['over its base'] = `${((Size - base) / 1e6).toFixed(1)} MB`;
}

/** `docker run --rm -p 127.0.0.1:9180:9180 -e … bearerd demo`, with ports that are free here. */
async function publishedPort({ engine, image }: Setting): Promise<void> {
  const [, line = ''] = /docker run (.*?bearerd demo)\n/s.exec(read('README.md')) ?? [];
  const args = line.replaceAll('\\\n', '').split(/\s+/);
  assert.deepEqual(args.slice(-2), ['bearerd', 'demo']);
  const [, key = ''] = /BEARERD_CALLER_KEY=(\S+)/.exec(line) ?? [];
  const options = args.slice(0, -2).map((arg) => arg.replace('127.0.0.1:9180:', '127.0.0.1::'));
  engine.podman(...RUN, '--name', 'published', ...options, image, 'demo');
  const port = portOf(engine, 'published', 9180);
  await until(engine, 'published', /logged in/);
  const ask = (headers: Record<string, string>) =>
    statusOf({ port, path: '/companies/example.com', headers });
  assert.deepEqual([await ask({}), await ask({ 'x-bearerd-key': 'another' })], [407, 407]);
  assert.equal(await ask({ 'x-bearerd-key': key }), 200);
}

async function sidecar({ engine, image, work, figures }: Setting): Promise<void> {
  const [container] = parse(read('deploy/kubernetes/deployment.yaml')).spec.template.spec
    .initContainers as Container[];
  engine.podman(...RUN, '--name', 'app', '--network', 'none', image, ...MOCK);
  const began = Date.now();
  const shared = ['--network', 'container:app', ...deployed(container!, work)];
  engine.podman(...RUN, '--name', 'sidecar', ...shared, image);
  probe(engine, 'sidecar', container!.startupProbe);
  figures['from `run` to a token, as its startup probe sees it'] =
    `${((Date.now() - began) / 1000).toFixed(1)} s`;
  figures['from its start to the first port'] = `${startedIn(engine, 'sidecar')} ms`;
  await delay(2_000);
  figures['memory in use, idle'] = memoryOf(engine, 'sidecar');
  probe(engine, 'sidecar', container!.readinessProbe);
  const call =
    "const { status } = await fetch('http://localhost:9180/companies/example.com'); console.log(status)";
  assert.equal(engine.podman('exec', 'app', 'node', '--input-type=module', '--eval', call), '200');
  engine.podman('healthcheck', 'run', 'sidecar');
  const asked = Date.now();
  engine.podman('stop', '--time', '30', 'sidecar');
  figures['from SIGTERM to its end'] = `${Date.now() - asked} ms`;
  assert.equal(engine.podman('inspect', '--format', '{{.State.ExitCode}}', 'sidecar'), '0');
}

async function standalone({ engine, image, work }: Setting): Promise<void> {
  const [deployment] = parseAllDocuments(read('deploy/kubernetes/standalone.yaml')).map((document) =>
    document.toJS(),
  );
  const [container] = deployment.spec.template.spec.containers as Container[];
  engine.podman(...RUN, '--name', 'api', image, ...MOCK);
  engine.podman(
    ...RUN,
    '--name',
    'standalone',
    '--network',
    'container:api',
    ...deployed(container!, work),
    image,
  );
  await until(engine, 'standalone', /logged in/);
  // At the pod's own address, as the kubelet.
  const address = engine.podman('inspect', '--format', '{{.NetworkSettings.IPAddress}}', 'api');
  const ask = (port: number, path: string, headers = {}) => statusOf({ host: address, port, path, headers });
  for (const { httpGet } of [container!.startupProbe, container!.readinessProbe, container!.livenessProbe!])
    assert.equal(await ask(9181, httpGet!.path), 200, httpGet!.path);
  assert.equal(await ask(9181, '/status'), 407);
  const call = (host: string, key: string) =>
    ask(9180, '/companies/example.com', { host, 'x-bearerd-key': key });
  for (const host of ['bearerd:9180', 'bearerd.your-namespace:9180', 'bearerd.x.svc.cluster.local:9180'])
    assert.equal(await call(host, SECRETS.caller_key), 200, host);
  assert.equal(await call('bearerd:9180', 'another'), 407);
  assert.equal(await call('evil.example', SECRETS.caller_key), 403);
}

/** The options that run a container as its manifest would have it, but for the upstream, which is the mock. */
function deployed({ env, resources }: Container, work: string): string[] {
  const secrets = join(work, 'secrets');
  mkdirSync(secrets, { recursive: true });
  for (const [name, value] of Object.entries(SECRETS)) writeFileSync(join(secrets, name), value);
  const settings = [...env, { name: 'BEARERD_BASE_URL', value: 'http://127.0.0.1:9190' }];
  return [
    ...HARDENED,
    ...['--memory', resources.limits.memory.replace('Mi', 'm')],
    ...['--volume', `${secrets}:/run/secrets/bearerd:ro`],
    ...settings.flatMap(({ name, value }) => ['--env', `${name}=${value}`]),
  ];
}

/** @throws when the command doesn't end with 0. */
function probe(engine: Engine, name: string, { exec }: Probe): void {
  engine.podman('exec', name, ...exec!.command);
}

async function until(engine: Engine, name: string, pattern: RegExp): Promise<void> {
  for (const began = Date.now(); !pattern.test(engine.podman('logs', name)); await delay(100))
    assert.ok(
      Date.now() - began < LIMIT_MS,
      `${name} does not say ${pattern}:\n${engine.podman('logs', name)}`,
    );
}

function portOf(engine: Engine, name: string, port: number): number {
  return Number(engine.podman('port', name, `${port}/tcp`).split(':').at(-1));
}

function memoryOf(engine: Engine, name: string): string {
  const [{ mem_usage: usage }] = JSON.parse(engine.podman('stats', '--no-stream', '--format', 'json', name));
  return usage.split(' / ')[0];
}

function startedIn(engine: Engine, name: string): number {
  const [, time = ''] = /"time":"([^"]+)".*listening on/.exec(engine.podman('logs', name)) ?? [];
  const started = JSON.parse(engine.podman('inspect', name))[0].State.StartedAt;
  return Date.parse(time) - Date.parse(started);
}

/** `fetch` sets a Host of its own. */
function statusOf(options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ ...options, signal: AbortSignal.timeout(10_000) }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on('error', reject)
      .end();
  });
}
