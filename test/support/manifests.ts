import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { parseAllDocuments } from 'yaml';
import { compilerPath } from '../../scripts/compiler.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Variable {
  readonly name: string;
  readonly value: string;
}
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly Variable[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly [other: string]: unknown;
}
export interface Pod {
  /** A patch may have none. */
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly [other: string]: unknown;
}
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec: Pod }; readonly [other: string]: unknown };
}

export const pathOf = (name: string): string => join(ROOT, 'deploy', name);

export function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

export const manifestsIn = (name: string): Manifest[] => manifestsOf(readFileSync(pathOf(name), 'utf8'));

export const podOf = (manifest: Manifest): Pod | undefined => manifest.spec?.template?.spec;

export const containersOf = (pod: Pod): readonly Container[] => [
  ...(pod.initContainers ?? []),
  ...(pod.containers ?? []),
];

/** What is bearerd's among them. */
export const bearerdIn = (manifests: readonly Manifest[]): Container[] =>
  manifests.flatMap((manifest) =>
    containersOf(podOf(manifest) ?? {}).filter(({ name }) => name === 'bearerd'),
  );

/** What the container's environment will be; Kubernetes takes `envFrom` first, and `env` wins. */
export function environmentOf(container: Container, manifests: readonly Manifest[]): Record<string, string> {
  const maps = (container.envFrom ?? []).map(({ configMapRef: { name } }) => {
    const map = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
    if (map?.data === undefined) throw new Error(`there is no ConfigMap ${name}`);
    return map.data;
  });
  const own = (container.env ?? []).map(({ name, value }) => [name, value] as const);
  return Object.assign({}, ...maps, Object.fromEntries(own)) as Record<string, string>;
}

/** `kubernetes-models/apps/v1/Deployment` of `apps/v1`, `Deployment`. */
const moduleOf = ({ apiVersion, kind }: Manifest) => `kubernetes-models/${apiVersion}/${kind}`;

/** What the schemas of Kubernetes' own interface say against these manifests: values that aren't allowed. */
export async function schemaFaults(manifests: readonly Manifest[]): Promise<string[]> {
  const faults: string[] = [];
  for (const manifest of manifests) {
    const models = (await import(moduleOf(manifest))) as Record<
      string,
      new (
        data: Manifest,
      ) => { validate(): void }
    >;
    try {
      new models[manifest.kind]!(manifest).validate();
    } catch (error) {
      faults.push(`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`);
    }
  }
  return faults;
}

/** And what its types say: names that there are none of, which the schemas let pass, as the server doesn't. */
export async function nameFaults(t: Test, manifests: readonly Manifest[]): Promise<string> {
  const lines = manifests.map((manifest, index) => {
    const { kind } = manifest;
    return [
      `import type { I${kind} as T${index} } from '${moduleOf(manifest)}';`,
      `export const m${index}: T${index} = ${JSON.stringify(manifest, null, 2)};`,
    ].join('\n');
  });
  const folder = t.testdir({ 'manifests.ts': lines.join('\n') });
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: 'es2023',
    module: 'nodenext',
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['manifests.ts'] }));
  return spawnSync(await compilerPath(), ['--project', folder], { encoding: 'utf8' }).stdout;
}
