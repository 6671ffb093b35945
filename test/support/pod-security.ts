import { type Container, containersOf, type Pod } from './manifests.ts';

// The profile "restricted" of Kubernetes' Pod Security Standards, as far as these pods could break it.
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const HOST = ['hostNetwork', 'hostPID', 'hostIPC'];
const SECCOMP = ['RuntimeDefault', 'Localhost'];

interface Context {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly seccompProfile?: { readonly type: string };
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
}

/** Why the profile would refuse the pod. */
export function restrictedFaults(pod: Pod): string[] {
  const shared = (pod.securityContext ?? {}) as Context;
  return [
    ...HOST.filter((name) => pod[name] !== undefined && pod[name] !== false),
    ...(pod.volumes ?? []).flatMap(({ name, ...source }) =>
      Object.keys(source)
        .filter((kind) => !VOLUMES.includes(kind))
        .map((kind) => `volume ${name}: ${kind}`),
    ),
    ...containersOf(pod).flatMap((container) =>
      containerFaults(container, shared).map((fault) => `${container.name}: ${fault}`),
    ),
  ];
}

function containerFaults(container: Container, shared: Context): string[] {
  const own = (container.securityContext ?? {}) as Context;
  const both = { ...shared, ...own };
  const faults: Readonly<Record<string, boolean>> = {
    runAsNonRoot: both.runAsNonRoot !== true,
    runAsUser: both.runAsUser === 0,
    privileged: own.privileged === true,
    allowPrivilegeEscalation: own.allowPrivilegeEscalation !== false,
    seccompProfile: !SECCOMP.includes(both.seccompProfile?.type ?? ''),
    'capabilities.drop': own.capabilities?.drop?.includes('ALL') !== true,
    'capabilities.add': (own.capabilities?.add ?? []).some((one) => one !== 'NET_BIND_SERVICE'),
    hostPort: (container.ports ?? []).some((port) => 'hostPort' in port),
  };
  return Object.keys(faults).filter((name) => faults[name]);
}
