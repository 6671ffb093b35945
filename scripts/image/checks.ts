import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { type Container, deployed, mountSecrets, SECRETS, secretsFolder } from './deployed.ts';
import type { Engine } from './engine.ts';
import { memoryOf, portOf, probe, startedIn, statusOf, until } from './running.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const LIMIT_MS = 60_000;

/** The arguments of a check: the engine, the name of the image, a folder for files, and a record for figures. */
export interface Setting {
  readonly engine: Engine;
  readonly image: string;
  readonly work: string;
  readonly figures: Record<string, string>;
}
export type Check = (setting: Setting) => Promise<void>;

const RUN = ['run', '--detach', '--pull', 'never', '--health-interval', 'disable'];
const MOCK = ['mock', '--listen', '127.0.0.1:9190'];

/** The containers that the checks start. Those that use the network of another come first. */
export const CONTAINERS = ['published', 'sidecar', 'standalone', 'app', 'api'];

export const CHECKS: Readonly<Record<string, Check>> = {
  'the image has labels, a user and the right version': hasLabels,
  'the line in the README serves a published port to clients with the caller key': publishedPort,
  'a hardened sidecar answers its probes, serves, and stops on SIGTERM': sidecar,
  'a standalone proxy answers its probes by HTTP, serves under the name of its Service, and applies a rotated Secret':
    standalone,
};

async function hasLabels({ engine, image, figures }: Setting): Promise<void> {
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

/** `docker run --rm -p 127.0.0.1:9180:9180 -e … bearerd demo`, with free ports. */
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
  const shared = [
    '--network',
    'container:app',
    ...deployed(container!, secretsFolder(join(work, 'of-sidecar'))),
  ];
  engine.podman(...RUN, '--name', 'sidecar', ...shared, image);
  await probe(engine, 'sidecar', container!.startupProbe, container!.ports[0]!.containerPort);
  figures['from `run` to a token, as its startup probe sees it'] =
    `${((Date.now() - began) / 1000).toFixed(1)} s`;
  figures['from its start to the first port'] = `${startedIn(engine, 'sidecar')} ms`;
  await delay(2_000);
  figures['memory in use, idle'] = memoryOf(engine, 'sidecar');
  await probe(engine, 'sidecar', container!.readinessProbe, container!.ports[0]!.containerPort);
  const call =
    "const { status } = await fetch('http://localhost:9180/companies/example.com'); console.log(status)";
  assert.equal(engine.podman('exec', 'app', 'node', '--input-type=module', '--eval', call), '200');
  engine.podman('healthcheck', 'run', 'sidecar');
  const asked = Date.now();
  engine.podman('stop', '--time', '30', 'sidecar');
  figures['from SIGTERM to its end'] = `${Date.now() - asked} ms`;
  assert.equal(engine.podman('inspect', '--format', '{{.State.ExitCode}}', 'sidecar'), '0');
}

async function standalone({ engine, image, work, figures }: Setting): Promise<void> {
  const [deployment] = parseAllDocuments(read('deploy/kubernetes/standalone.yaml')).map((document) =>
    document.toJS(),
  );
  const [container] = deployment.spec.template.spec.containers as Container[];
  engine.podman(...RUN, '--name', 'api', image, ...MOCK);
  const secrets = secretsFolder(join(work, 'of-standalone'));
  engine.podman(
    ...RUN,
    '--name',
    'standalone',
    '--network',
    'container:api',
    ...deployed(container!, secrets),
    image,
  );
  await until(engine, 'standalone', /logged in/);
  // At the address of the pod, like the kubelet.
  const address = engine.podman('inspect', '--format', '{{.NetworkSettings.IPAddress}}', 'api');
  const ask = (port: number, path: string, headers = {}) => statusOf({ host: address, port, path, headers });
  for (const { httpGet } of [container!.startupProbe, container!.readinessProbe, container!.livenessProbe!])
    assert.equal(await ask(9181, httpGet.path), 200, httpGet.path);
  assert.equal(await ask(9181, '/status'), 407);
  const call = (host: string, key: string) =>
    ask(9180, '/companies/example.com', { host, 'x-bearerd-key': key });
  for (const host of ['bearerd:9180', 'bearerd.your-namespace:9180', 'bearerd.x.svc.cluster.local:9180'])
    assert.equal(await call(host, SECRETS.caller_key), 200, host);
  assert.equal(await call('bearerd:9180', 'another'), 407);
  assert.equal(await call('evil.example', SECRETS.caller_key), 403);
  // After the Secret is rotated, only the new key is accepted within seconds, without a restart.
  mountSecrets(secrets, { ...SECRETS, caller_key: 'a-new-key' });
  const rotated = async () => (await call('bearerd:9180', 'a-new-key')) === 200;
  const began = Date.now();
  for (; !(await rotated()); await delay(100))
    assert.ok(Date.now() - began < LIMIT_MS, 'the new key is not accepted');
  figures['from a swapped Secret to the new caller key'] = `${((Date.now() - began) / 1000).toFixed(1)} s`;
  assert.equal(await call('bearerd:9180', SECRETS.caller_key), 407);
}
