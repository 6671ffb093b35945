import { SETTINGS, type Values } from '../declaration/settings.ts';
import { type Reading, sourceOf } from '../reading/reading.ts';
import { clash, formatAddress, isRemotelyReachable, type ListenAddress } from '../values/addresses.ts';

interface Addresses {
  readonly key: string;
  readonly addresses: readonly ListenAddress[];
}

/** @param others listeners whose addresses are taken */
function reportClashes({ key, addresses }: Addresses, others: readonly Addresses[], reading: Reading): void {
  const taken = others.flatMap((each) => each.addresses.map((address) => ({ key: each.key, address })));
  for (const address of addresses) {
    const other = taken.find((candidate) => clash(candidate.address, address));
    const text = formatAddress(address);
    if (other?.key === key)
      reading.report(key, `${text} is the same address as ${formatAddress(other.address)}`);
    else if (other !== undefined) {
      const problem = `${text} is the same address as ${formatAddress(other.address)} of ${reading.environment.sourceOf(other.key)}`;
      reading.report(key, `${problem}; give one of them another port`);
    }
    taken.push({ key, address });
  }
}

/** Two listeners need two addresses, and a proxy that other machines can reach needs a caller key. */
export function checkListeners(values: Values, keyRequired: boolean, reading: Reading): void {
  const of = (name: 'listen' | 'adminListen' | 'probesListen'): Addresses => {
    return { key: sourceOf(SETTINGS[name], reading).key, addresses: values[name] };
  };
  const [proxy, admin] = [of('listen'), of('adminListen')];
  reportClashes(proxy, [], reading);
  reportClashes(admin, [proxy], reading);
  reportClashes(of('probesListen'), [proxy, admin], reading);
  const remote = values.listen.find(isRemotelyReachable);
  if (remote === undefined || keyRequired || values.allowRemoteCallers) return;
  const { callerKey, allowRemoteCallers } = SETTINGS;
  reading.report(
    proxy.key,
    `${formatAddress(remote)} can be reached from other machines; set ${callerKey.variable} so that only those who ` +
      `have the key may call, or ${allowRemoteCallers.variable}=true to let everybody`,
  );
}
