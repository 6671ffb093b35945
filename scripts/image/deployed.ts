import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Probe } from './running.ts';

/** A container in a manifest. */
export interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly ports: readonly { readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe?: Probe;
}

/** The securityContext of deploy/kubernetes. */
const HARDENED = [
  '--user',
  '1000:1000',
  '--read-only',
  '--cap-drop',
  'all',
  '--security-opt',
  'no-new-privileges',
];
/** The secrets of the mock, and a caller key. */
export const SECRETS = {
  client_id: 'demo-service-account',
  client_secret: 'demo-client-secret',
  api_key: 'demo_key_0123456789',
  caller_key: 'a-caller-key',
};

/**
 * The options that run a container like its manifest, except that the upstream is the mock.
 *
 * @param secrets a folder of `secretsFolder`
 */
export function deployed({ env, resources }: Container, secrets: string): string[] {
  const settings = [...env, { name: 'BEARERD_BASE_URL', value: 'http://127.0.0.1:9190' }];
  return [
    ...HARDENED,
    ...['--memory', resources.limits.memory.replace('Mi', 'm')],
    ...['--volume', `${secrets}:/run/secrets/bearerd:ro`],
    ...settings.flatMap(({ name, value }) => ['--env', `${name}=${value}`]),
  ];
}

/** Writes secrets as the kubelet does: a changed Secret is swapped as a whole, by one symbolic link. */
export function mountSecrets(folder: string, secrets: Readonly<Record<string, string>>): void {
  const contents = `..${process.hrtime.bigint()}`;
  mkdirSync(join(folder, contents), { recursive: true });
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, contents, name), value);
  symlinkSync(contents, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}

/** Fills a folder like a mounted Secret: the links of the files stay, `..data` is swapped. */
export function secretsFolder(folder: string): string {
  mountSecrets(folder, SECRETS);
  for (const name of Object.keys(SECRETS)) symlinkSync(join('..data', name), join(folder, name));
  return folder;
}
