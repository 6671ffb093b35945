import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { chartSchema } from '../../scripts/chart-schema.ts';
import { VERSION } from '../../src/base/version.ts';
import { SECRET_SETTINGS } from '../../src/config/declaration/settings.ts';
import { type Files, faultsOf } from '../config/load-from.ts';
import { CHART, helm, rendered, skip, yourApp } from '../support/helm.ts';
import {
  bearerdIn,
  environmentOf,
  type Manifest,
  manifestsIn,
  nameFaults,
  pathOf,
  podOf,
  schemaFaults,
} from '../support/manifests.ts';
import { restrictedFaults } from '../support/pod-security.ts';

const EXAMPLE = join(CHART, 'ci/example-values.yaml');
const yamlIn = (...path: string[]) => parse(readFileSync(pathOf(join('helm', ...path)), 'utf8'));

interface ValuesSchema {
  readonly properties: Readonly<Record<string, { propertyNames?: { enum: string[] } }>>;
}
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as ValuesSchema;
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
const values = yamlIn('bearerd/values.yaml');
const example = { ...values, ...parse(readFileSync(EXAMPLE, 'utf8')) };

t.test('the values are what their schema says, which refuses the rest', async (t) => {
  t.ok(validate(example), JSON.stringify(validate.errors));
  t.ok(validate({ ...values, config: { baseUrl: 'https://api.example.com' } }));
  t.notOk(validate(values), 'no base URL');
  for (const wrong of [
    { settings: { ...example.settings, BEARERD_BASE_ULR: 'https://api.example.com' } },
    { settings: { ...example.settings, BEARERD_CLIENT_SECRET: 'secret' } },
    { secretFiles: { BEARERD_CLIENT_SECRET: 'client_secret' } },
    { secretFiles: { BEARERD_CLIENT_SECRET_FILE: '/run/secrets/client_secret' } },
    { standalone: { replica: 1 } },
    { image: { repository: 'x', digest: 'latest' } },
  ])
    t.notOk(validate({ ...example, ...wrong }), JSON.stringify(wrong));
});

t.test('the schema knows each setting: here those that are not secret, there the files', async (t) => {
  const text = readFileSync(join(CHART, 'values.schema.json'), 'utf8');
  t.equal(text, chartSchema(text), 'npm run chart-schema');
  const { settings, secretFiles } = schema.properties;
  t.match(settings!.propertyNames!.enum, ['BEARERD_BASE_URL']);
  t.ok(secretFiles!.propertyNames!.enum.every((name) => name.endsWith('_FILE')));
  for (const { variable } of SECRET_SETTINGS)
    t.notOk(settings!.propertyNames!.enum.includes(variable), variable);
});

t.test('a template asks for no value that values.yaml does not have', async (t) => {
  const folder = join(CHART, 'templates');
  const asked = readdirSync(folder).flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path!),
  );
  t.ok(asked.length > 10);
  for (const path of asked) {
    const value = path
      .split('.')
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], values);
    t.not(value, undefined, path);
  }
});

t.test('the charts are of this version', async (t) => {
  t.match(yamlIn('bearerd/Chart.yaml'), { version: VERSION, appVersion: VERSION });
  t.match(yamlIn('your-app/Chart.yaml').dependencies, [{ name: 'bearerd', version: VERSION }]);
});

const OF_HELM = [
  'app.kubernetes.io/instance',
  'app.kubernetes.io/version',
  'app.kubernetes.io/managed-by',
  'helm.sh/chart',
];

/** Without what only a chart adds: its labels, annotations, a pull policy, and order. */
function bare(manifests: readonly Manifest[]): Manifest[] {
  const text = JSON.stringify(manifests, (key, value) => {
    if (OF_HELM.includes(key) || key === 'annotations' || key === 'imagePullPolicy') return undefined;
    if (key === 'env') return [...value].sort((a, b) => a.name.localeCompare(b.name));
    return value;
  });
  return (JSON.parse(text) as Manifest[]).sort((a, b) => a.kind.localeCompare(b.kind));
}

t.test('helm finds nothing to say against the chart', { skip }, async (t) => {
  const { status, stdout } = helm('lint', '--strict', CHART, '--values', EXAMPLE);
  t.equal(status, 0, stdout);
  t.match(helm('lint', CHART), { status: 1, stderr: /failed/ }, 'no base URL');
});

t.test('the chart makes the objects of deploy/kubernetes/standalone.yaml', { skip }, async (t) => {
  const objects = rendered('bearerd', CHART, '--values', EXAMPLE);
  t.same(bare(objects), bare(manifestsIn('kubernetes/standalone.yaml')));
  t.same(await schemaFaults(objects), []);
  t.equal(await nameFaults(t, objects), '');
});

t.test('a chart that includes the sidecar makes deploy/kubernetes/deployment.yaml', { skip }, async (t) => {
  const objects = rendered('your-app', yourApp(t.testdir()));
  t.same(bare(objects), bare(manifestsIn('kubernetes/deployment.yaml')));
  t.same(await schemaFaults(objects), []);
});

const CONFIG = [
  '--set',
  'config.baseUrl=https://api.example.com',
  '--set',
  'config.credentials.token.type=apiKey',
];
const KEY = ['--set', 'config.credentials.token.key.file=/run/secrets/bearerd/api_key'];
const MORE = [
  '--set',
  'standalone.podSpec.priorityClassName=high',
  '--set',
  'settings.BEARERD_MAX_CONNECTIONS=1000000',
];

t.test('a configuration file, numbers and more of the pod come through', { skip }, async (t) => {
  const chart = yourApp(t.testdir());
  const sidecar = rendered(
    'x',
    chart,
    ...[...CONFIG, ...KEY].map((arg) => arg.replace('config', 'bearerd.config')),
  );
  const standalone = rendered('x', CHART, ...CONFIG, ...KEY, ...MORE);
  t.match(
    standalone.map(podOf).find((pod) => pod !== undefined),
    { priorityClassName: 'high' },
  );
  for (const objects of [sidecar, standalone]) {
    t.same(await schemaFaults(objects), []);
    t.equal(await nameFaults(t, objects), '');
    for (const pod of objects.map(podOf).filter((one) => one !== undefined))
      t.same(restrictedFaults(pod), []);
    t.same(await configurationFaults(objects), []);
  }
});

/** What `bearerd check` would say in that container. */
async function configurationFaults(objects: readonly Manifest[]): Promise<readonly string[]> {
  const [container] = bearerdIn(objects);
  const map = objects.find(({ kind }) => kind === 'ConfigMap')!;
  const pod = objects.map(podOf).find((one) => one !== undefined)!;
  t.match(pod.volumes, [{}, { configMap: { name: map.metadata.name } }]);
  const env = environmentOf(container!, objects);
  const keys = ['client_id', 'client_secret', 'api_key', 'caller_key'];
  const files: Files = Object.fromEntries([
    ...keys.map((key) => [`/run/secrets/bearerd/${key}`, 'secret']),
    [env.BEARERD_CONFIG, map.data!['bearerd.yaml']],
  ]);
  return faultsOf({ env, files });
}

t.test('a folder in memory is shared where another container reads the sinks', { skip }, async (t) => {
  const folder = '/run/bearerd';
  const shared = rendered('bearerd', CHART, '--values', EXAMPLE, '--set', `sharedFolder=${folder}`);
  const { volumes, containers } = podOf(shared.find(({ kind }) => kind === 'Deployment')!)!;
  const named = ({ name }: { name: string }) => name === 'bearerd-shared';
  t.match(volumes?.find(named), { emptyDir: { medium: 'Memory' } });
  t.match(containers![0]!.volumeMounts?.find(named), { mountPath: folder });
  t.same(await schemaFaults(shared), []);
  t.notMatch(JSON.stringify(rendered('bearerd', CHART, '--values', EXAMPLE)), 'bearerd-shared');
});
