import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Probe } from './running.ts';

/** As a manifest has it. */
export interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly ports: readonly { readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe?: Probe;
}

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
/** Those of the mock, and a caller key. */
export const SECRETS = {
  client_id: 'demo-service-account',
  client_secret: 'demo-client-secret',
  api_key: 'demo_key_0123456789',
  caller_key: 'a-caller-key',
};

/**
 * The options that run a container as its manifest would have it, but for the upstream, which is the mock.
 *
 * @param secrets a folder that `mountSecrets` has filled
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

/** As the kubelet mounts a Secret, and swaps one that has changed: all of it at once, by one link. */
export function mountSecrets(folder: string, secrets: Readonly<Record<string, string>>): void {
  const contents = `..${process.hrtime.bigint()}`;
  mkdirSync(join(folder, contents), { recursive: true });
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, contents, name), value);
  symlinkSync(contents, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}

/** The links that stay. */
export function secretsFolder(folder: string): string {
  mountSecrets(folder, SECRETS);
  for (const name of Object.keys(SECRETS)) symlinkSync(join('..data', name), join(folder, name));
  return folder;
}
