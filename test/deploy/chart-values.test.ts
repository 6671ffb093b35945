import { join } from 'node:path';
import t, { type Test } from 'tap';
import { faultsOf } from '../config/load-from.ts';
import { CHART, helm, rendered, skip, yourApp } from '../support/helm.ts';
import {
  bearerdIn,
  environmentOf,
  type Manifest,
  nameFaults,
  podOf,
  schemaFaults,
} from '../support/manifests.ts';
import { restrictedFaults } from '../support/pod-security.ts';

const CI = (name: string) => join(CHART, 'ci', `${name}-values.yaml`);
const SETTINGS = { BEARERD_BASE_URL: 'https://api.example.com' };

/** What the chart makes of the example's values with these on top; each is checked as Kubernetes would. */
async function made(t: Test, values: object, name = 'bearerd'): Promise<Manifest[]> {
  const objects = rendered(name, CHART, '--values', CI('example'), ...flagsOf(values));
  t.same(await schemaFaults(objects), []);
  return objects;
}

const flagsOf = (values: object): string[] => ['--set-json', JSON.stringify(values)];

const ofKind = (objects: readonly Manifest[], kind: string): Manifest =>
  objects.find((one) => one.kind === kind)!;
const podIn = (objects: readonly Manifest[]) => podOf(ofKind(objects, 'Deployment'))!;

t.test(
  'what podSpec gives wins over the chart key by key, and volumes and containers are added',
  { skip },
  async (t) => {
    const podSpec = {
      terminationGracePeriodSeconds: 90,
      automountServiceAccountToken: true,
      securityContext: { fsGroup: 1000 },
      topologySpreadConstraints: [],
      volumes: [{ name: 'more', emptyDir: {} }],
      containers: [{ name: 'envoy', image: 'envoy' }],
    };
    const objects = await made(t, { standalone: { podSpec } });
    t.equal(await nameFaults(t, objects), '');
    const pod = podIn(objects);
    const { volumes, containers, securityContext, ...rest } = podSpec;
    t.match(pod, rest);
    t.same(pod.securityContext, {
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
      ...securityContext,
    });
    t.match(pod.volumes, [{ name: 'bearerd-secrets' }, ...volumes]);
    t.match(pod.containers, [{ name: 'bearerd' }, ...containers]);
  },
);

const EXTRA = {
  extraEnv: [
    { name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' },
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ],
  extraVolumes: [{ name: 'ca', configMap: { name: 'company-ca' } }],
  extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca', readOnly: true }],
};

t.test('variables, volumes and mounts of the user reach both kinds of pod', { skip }, async (t) => {
  const standalone = await made(t, EXTRA);
  const sidecar = rendered('x', yourApp(t.testdir()), ...flagsOf({ bearerd: EXTRA }));
  for (const objects of [standalone, sidecar]) {
    const pod = podIn(objects);
    const [container] = bearerdIn(objects);
    t.match(container!.env!.slice(0, 2), EXTRA.extraEnv, 'before the settings, which may refer to them');
    t.match(container!.volumeMounts!.at(-1), EXTRA.extraVolumeMounts[0]);
    t.match(pod.volumes!.at(-1), EXTRA.extraVolumes[0]);
    t.same(
      restrictedFaults({ ...pod, securityContext: {}, containers: [container!], initContainers: [] }),
      [],
    );
    t.same(await schemaFaults(objects), []);
  }
});

t.test('a login without a secret mounts a projected token, and no Secret', { skip }, async (t) => {
  t.equal(helm('lint', '--strict', CHART, '--values', CI('without-a-secret')).status, 0);
  const objects = rendered('bearerd', CHART, '--values', CI('without-a-secret'));
  t.same(await schemaFaults(objects), []);
  t.equal(await nameFaults(t, objects), '');
  const pod = podIn(objects);
  t.same(restrictedFaults(pod), []);
  t.notMatch(JSON.stringify(pod.volumes), /secretName/);
  const [container] = bearerdIn(objects);
  const env = environmentOf(container!, objects);
  const config = ofKind(objects, 'ConfigMap').data!['bearerd.yaml']!;
  t.same(
    await faultsOf({ env, files: { [env.BEARERD_CONFIG!]: config, '/run/identity/token': 'a.b.c' } }),
    [],
  );
});

/** The ports by which the pod is reached, and what says of them. */
function portsOf(objects: readonly Manifest[]) {
  const [container] = bearerdIn(objects);
  const [service] = ofKind(objects, 'Service').spec!.ports as { port: number; targetPort: string }[];
  const named = Object.fromEntries(container!.ports!.map(({ name, containerPort }) => [name, containerPort]));
  return { ...named, service: service!.port, target: service!.targetPort };
}

t.test('ports follow the listeners, in the settings and in the configuration file', { skip }, async (t) => {
  const settings = {
    ...SETTINGS,
    BEARERD_LISTEN: '127.0.0.1:9180,0.0.0.0:8080',
    BEARERD_ADMIN_LISTEN: '[::]:8081',
  };
  const expected = { http: 8080, admin: 8081, service: 8080, target: 'http' };
  t.same(portsOf(await made(t, { settings })), expected);
  const config = { listen: ['unix:/run/bearerd', '0.0.0.0:8080'], admin: { listen: '0.0.0.0:8081' } };
  t.same(portsOf(await made(t, { config })), expected);
});

t.test(
  'what the configuration file says is not overruled by a variable of the chart',
  { skip },
  async (t) => {
    const config = {
      listen: '0.0.0.0:8080',
      allowedHosts: ['bearerd'],
      shutdownDelay: '9s',
      drainTimeout: '9s',
    };
    const env = environmentOf(bearerdIn(await made(t, { config }))[0]!, []);
    for (const name of ['LISTEN', 'ALLOWED_HOSTS', 'SHUTDOWN_DELAY', 'DRAIN_TIMEOUT'])
      t.notOk(`BEARERD_${name}` in env, name);
    t.equal(env.BEARERD_ADMIN_LISTEN, '0.0.0.0:9181', 'which it does not say');
    const sidecar = rendered('x', yourApp(t.testdir()), ...flagsOf({ bearerd: { config } }));
    t.notOk('BEARERD_DRAIN_TIMEOUT' in environmentOf(bearerdIn(sidecar)[0]!, []));
  },
);

/** The ports that the policy lets out, but for DNS'. */
const outOf = (objects: readonly Manifest[]) =>
  (ofKind(objects, 'NetworkPolicy').spec!.egress as unknown[]).slice(1);

t.test('the policy lets out what bearerd calls', { skip }, async (t) => {
  const ports = (...list: number[]) => [{ ports: list.map((port) => ({ port })) }];
  t.same(outOf(await made(t, {})), ports(443));
  const settings = { BEARERD_BASE_URL: 'https://api.example.com:8443/v1' };
  t.same(outOf(await made(t, { settings })), ports(443, 8443));
  const secretFiles = { BEARERD_SHARE_URL_FILE: 'share_url' };
  t.same(outOf(await made(t, { secretFiles })), ports(443, 6379));
  const config = { share: { url: { file: '/run/secrets/bearerd/share_url' } } };
  t.same(outOf(await made(t, { config })), ports(443, 6379));
  const egressPorts = [3128, 443, 4318];
  t.same(outOf(await made(t, { standalone: { networkPolicy: { egressPorts } } })), ports(443, 3128, 4318));
  const egress = [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 8443 }] }];
  t.same(outOf(await made(t, { standalone: { networkPolicy: { egress } } })), egress);
});

t.test('one replica does not keep a node from being drained', { skip }, async (t) => {
  const { spec } = ofKind(await made(t, { standalone: { replicas: 1 } }), 'PodDisruptionBudget');
  t.match(spec, { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
  t.notMatch(spec, { minAvailable: Number });
});

t.test('a name of a release that no Service may have becomes one that it may', { skip }, async (t) => {
  const names = {
    'shop.v2': 'shop-v2-bearerd',
    '2024.bearerd': 'bearerd-2024-bearerd',
    shop: 'shop-bearerd',
  };
  for (const [release, name] of Object.entries(names)) {
    const objects = await made(t, {}, release);
    t.match(name, /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, 'RFC 1035');
    t.same([...new Set(objects.map(({ metadata }) => metadata.name))], [name]);
    const { BEARERD_ALLOWED_HOSTS } = environmentOf(bearerdIn(objects)[0]!, []);
    t.match(BEARERD_ALLOWED_HOSTS, `${name},${name}.your-namespace`);
  }
});

t.test('what could not work is refused in words', { skip }, async (t) => {
  const refused: readonly [object, RegExp][] = [
    [
      { settings: { ...SETTINGS, BEARERD_LISTEN: 'localhost:9180' } },
      /BEARERD_LISTEN \(listen\) is "localhost:9180"/,
    ],
    [
      { settings: { ...SETTINGS, BEARERD_ADMIN_LISTEN: 'off' } },
      /BEARERD_ADMIN_LISTEN \(admin\.listen\) is "off"/,
    ],
    [{ secretName: '' }, /standalone\.callerKey/],
    [{ secretName: '', standalone: { callerKey: '' } }, /secretFiles/],
    [{ extraEnv: [{ name: 'BEARERD_LISTEN', value: 'off' }] }, /extraEnv/],
  ];
  for (const [values, words] of refused)
    t.match(helm('template', 'x', CHART, '--values', CI('example'), ...flagsOf(values)).stderr, words);
});
