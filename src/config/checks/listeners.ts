import type { ListenAddress } from '../config.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import type { Reading } from '../reading/reading.ts';
import { sourceOf } from '../reading/single-settings.ts';
import { clash, formatAddress, isRemotelyReachable } from '../values/addresses.ts';

function reportClashes(
  addresses: readonly ListenAddress[],
  others: readonly ListenAddress[],
  key: string,
  reading: Reading,
): void {
  for (const [index, address] of addresses.entries()) {
    const other = [...others, ...addresses.slice(0, index)].find((candidate) => clash(candidate, address));
    if (other === undefined) continue;
    reading.report(key, `cannot listen on ${formatAddress(address)}: ${formatAddress(other)} takes it`);
  }
}

/** Two listeners need two addresses, and one that others can reach needs to know who calls. */
export function checkListeners(values: Values, keyRequired: boolean, reading: Reading): void {
  const listenKey = sourceOf(SETTINGS.listen, reading).key;
  reportClashes(values.listen, [], listenKey, reading);
  reportClashes(values.adminListen, values.listen, sourceOf(SETTINGS.adminListen, reading).key, reading);
  const others = [...values.listen, ...values.adminListen];
  reportClashes(values.probesListen, others, sourceOf(SETTINGS.probesListen, reading).key, reading);
  const remote = values.listen.find(isRemotelyReachable);
  if (remote === undefined || keyRequired || values.allowRemoteCallers) return;
  const { callerKey, allowRemoteCallers } = SETTINGS;
  reading.report(
    listenKey,
    `${formatAddress(remote)} can be reached from other machines; set ${callerKey.variable} so that only those who ` +
      `have the key may call, or ${allowRemoteCallers.variable}=true to let everybody`,
  );
}
