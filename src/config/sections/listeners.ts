import { SETTINGS, type Values } from '../declaration/settings.ts';
import { type Reading, settingPlace } from '../reading/reading.ts';
import { clash, formatAddress, isRemotelyReachable, type ListenAddress } from '../values/addresses.ts';

/** Each listener needs addresses of its own, and a proxy that other machines can reach needs a caller key. */
export function checkListeners(values: Values, keyRequired: boolean, reading: Reading): void {
  const taken: { readonly key: string; readonly address: ListenAddress }[] = [];
  for (const name of ['listen', 'adminListen', 'probesListen'] as const) {
    const { key } = settingPlace(SETTINGS[name], reading);
    for (const address of values[name]) {
      const other = taken.find((each) => clash(each.address, address));
      if (other !== undefined) {
        const isOwn = other.key === key;
        const where = isOwn
          ? ''
          : ` of ${reading.environment.sourceOf(other.key)}; give one of them another port`;
        const problem = `${formatAddress(address)} is the same address as ${formatAddress(other.address)}${where}`;
        reading.report(key, problem);
      }
      taken.push({ key, address });
    }
  }
  const remote = values.listen.find(isRemotelyReachable);
  if (remote === undefined || keyRequired || values.allowRemoteCallers) return;
  const { callerKey, allowRemoteCallers } = SETTINGS;
  reading.report(
    settingPlace(SETTINGS.listen, reading).key,
    `${formatAddress(remote)} can be reached from other machines; set ${callerKey.variable} so that only those who ` +
      `have the key may call, or ${allowRemoteCallers.variable}=true to let everybody`,
  );
}
