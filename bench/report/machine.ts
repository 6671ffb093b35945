import os from 'node:os';
import { INSTALLED } from '../contenders/all.ts';
import { options } from '../options.ts';

/** What the figures hold for. */
export function machine(): string[] {
  const cpus = os.cpus();
  const peers = INSTALLED.filter(({ name }) => name !== 'bearerd').map(
    ({ name, version }) => `${name} ${version}`,
  );
  return [
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, Linux ${os.release().split('-')[0]}`,
    `${cpus.length} × ${cpus[0]?.model ?? 'unknown'}`,
    `${peers.join(', ')}`,
    `${options.rounds} interleaved rounds of ${options.requests.toLocaleString('en')} requests after ${options.warmUp.toLocaleString('en')} to warm up`,
  ];
}
