import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { clusterTool } from '../../scripts/cluster-tools.ts';
import { VERSION } from '../../src/base/version.ts';
import { faultsOf } from '../config/load-from.ts';
import {
  bearerdIn,
  type Container,
  containersOf,
  environmentOf,
  type Manifest,
  manifestsIn,
  manifestsOf,
  nameFaults,
  pathOf,
  podOf,
  schemaFaults,
} from '../support/manifests.ts';
import { restrictedFaults } from '../support/pod-security.ts';

const FOLDER = 'kubernetes';
const files = readdirSync(pathOf(FOLDER), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.yaml'),
);
const isKustomization = (name: string) => name.endsWith('kustomization.yaml');
const manifests = files
  .filter((name) => !isKustomization(name))
  .flatMap((name) => manifestsIn(join(FOLDER, name)));
/** A patch has but a part of a Deployment. */
const whole = manifests.filter(({ metadata }) => metadata.name !== 'any');
const secret = whole.find(({ kind }) => kind === 'Secret')!;
const settingsOfExample = Object.fromEntries(
  readFileSync(pathOf('kubernetes/example/bearerd.env'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(/=(.*)/s, 2)),
) as Record<string, string>;
const exampleMap: Manifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'bearerd' },
  data: settingsOfExample,
};

t.test('each manifest is one that Kubernetes takes', async (t) => {
  t.ok(whole.length >= 9, `${whole.length} manifests`);
  t.same(await schemaFaults(whole), []);
  t.equal(await nameFaults(t, whole), '');
});

t.test('the patch is a part of one', async (t) => {
  const { spec } = manifestsIn('kubernetes/component/sidecar.yaml')[0]!;
  const pod = { ...spec!.template!.spec, containers: [{ name: 'app', image: 'app' }] };
  const completed: Manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'any' },
    spec: { selector: {}, template: { spec: pod } },
  };
  t.same(await schemaFaults([completed]), []);
  t.equal(await nameFaults(t, [completed]), '');
});

t.test('a misspelt name and a wrong value are found', async (t) => {
  const job = whole.find(({ kind }) => kind === 'Job')!;
  const misspelt = { ...job, spec: { ...job.spec, backofLimit: 3 } } as Manifest;
  t.match(await nameFaults(t, [misspelt]), /backofLimit/);
  const wrong = { ...job, spec: { ...job.spec, backoffLimit: 'three' } } as Manifest;
  t.match((await schemaFaults([wrong])).join(), /backoffLimit/);
});

t.test('each pod is admitted where Pod Security is restricted', async (t) => {
  for (const manifest of whole) {
    const pod = podOf(manifest);
    if (pod !== undefined) t.same(restrictedFaults(pod), [], manifest.metadata.name);
  }
  const pod = podOf(whole.find(({ kind }) => kind === 'Job')!)!;
  t.same(restrictedFaults({ ...pod, hostNetwork: true }), ['hostNetwork']);
  t.match(restrictedFaults({ ...pod, securityContext: {} }), ['job: runAsNonRoot']);
});

t.test('our container is admitted in a pod that says nothing of security itself', async (t) => {
  const all = bearerdIn(manifests);
  t.not(all.length, 0);
  for (const container of all) t.same(restrictedFaults({ containers: [container] }), []);
});

t.test('each configuration passes the check', async (t) => {
  const all = bearerdIn(manifests);
  t.equal(all.length, 4);
  for (const container of all) {
    const env = environmentOf(container, [exampleMap]);
    const { mountPath } = container.volumeMounts!.find(({ name }) => name === 'bearerd-secrets')!;
    const mounted = Object.entries(secret.stringData!).map(([key, value]) => [`${mountPath}/${key}`, value]);
    t.same(await faultsOf({ env, files: Object.fromEntries(mounted) }), []);
  }
});

t.test('it is the same sidecar in a Deployment, in a Job and in the component', async (t) => {
  const [deployment, job, component] = ['deployment', 'job', 'component/sidecar'].map((name) => {
    const [container] = bearerdIn(manifestsIn(`kubernetes/${name}.yaml`));
    const { env: _, envFrom: __, ...rest } = container!;
    return { ...rest, environment: environmentOf(container!, [exampleMap]) };
  });
  t.equal(deployment!.restartPolicy, 'Always');
  t.same(job, deployment);
  t.same(component, deployment);
});

t.test('a container finds the volumes, ports and secrets that it names', async (t) => {
  for (const manifest of whole) {
    const pod = podOf(manifest);
    if (pod === undefined) continue;
    const volumes = (pod.volumes ?? []).map(({ name }) => name);
    for (const container of containersOf(pod)) {
      for (const { name } of container.volumeMounts ?? []) t.ok(volumes.includes(name), name);
      t.same(
        namedPorts(container).filter((port) => !container.ports?.some(({ name }) => name === port)),
        [],
      );
    }
  }
  const secrets = whole.flatMap((manifest) => podOf(manifest)?.volumes ?? []).map(({ secret }) => secret);
  for (const one of secrets) t.match(one, { secretName: secret.metadata.name });
});

function namedPorts(container: Container): unknown[] {
  return ['startupProbe', 'readinessProbe', 'livenessProbe'].flatMap((probe) => {
    const { httpGet } = (container[probe] ?? {}) as { httpGet?: { port: unknown } };
    return httpGet === undefined ? [] : [httpGet.port];
  });
}

t.test('Service, NetworkPolicy and budget mean the pods of the Deployment beside them', async (t) => {
  const [deployment, ...others] = manifestsIn('kubernetes/standalone.yaml');
  const { labels } = (deployment!.spec!.template as unknown as Manifest).metadata;
  t.match(deployment!.spec, { selector: { matchLabels: labels } });
  const selectors = others.map(({ kind, spec }) =>
    kind === 'Service' ? { matchLabels: spec!.selector } : (spec!.podSelector ?? spec!.selector),
  );
  t.same(
    selectors,
    others.map(() => ({ matchLabels: labels })),
  );
});

t.test('the image is that of this version', async (t) => {
  const images = bearerdIn(manifests).map(({ image }) => image);
  t.same([...new Set(images)], [`registry.example.com/bearerd:${VERSION}`]);
  const { images: overridden } = parse(readFileSync(pathOf('kubernetes/example/kustomization.yaml'), 'utf8'));
  t.match(overridden, [{ name: 'registry.example.com/bearerd', newTag: VERSION }]);
});

t.test('a kustomization names files that there are', async (t) => {
  for (const name of files.filter(isKustomization)) {
    const {
      resources = [],
      components = [],
      patches = [],
      configMapGenerator = [],
    } = parse(readFileSync(pathOf(join(FOLDER, name)), 'utf8')) as Record<
      string,
      (string & { path: string; envs: string[] })[]
    >;
    const named = [
      ...resources,
      ...components,
      ...patches.map(({ path }) => path),
      ...configMapGenerator.flatMap(({ envs }) => envs),
    ];
    t.not(named.length, 0);
    for (const one of named) t.ok(existsSync(pathOf(join(FOLDER, name, '..', one))), one);
  }
});

const kubectl = clusterTool('kubectl');
const skip = kubectl === undefined && 'there is no kubectl (npm run cluster-tools)';
t.test('the component makes of an ordinary Deployment the one with the sidecar', { skip }, async (t) => {
  const { status, stdout, stderr } = spawnSync(kubectl!, ['kustomize', pathOf('kubernetes/example')], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);
  const rendered = manifestsOf(stdout);
  t.same(await schemaFaults(rendered), []);
  t.equal(await nameFaults(t, rendered), '');
  const pods = [rendered, manifestsIn('kubernetes/deployment.yaml')].map((list) => {
    const pod = podOf(list.find(({ kind }) => kind === 'Deployment')!)!;
    const { terminationGracePeriodSeconds: _, initContainers: __, ...rest } = pod;
    return { ...rest, environment: environmentOf(pod.initContainers![0]!, list) };
  });
  t.same(pods[0], pods[1]);
});
