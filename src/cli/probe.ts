import { Client } from 'undici';
import type { Config, ListenAddress } from '../config/config.ts';
import { ConfigError } from '../errors.ts';
import type { OptionValues } from './command.ts';
import { adminListenOf, configurationOf } from './configuration.ts';

const PROBE_TIMEOUT_MS = 2_000;
const LIMITS: Client.Options = {
  connect: { timeout: PROBE_TIMEOUT_MS },
  headersTimeout: PROBE_TIMEOUT_MS,
  bodyTimeout: PROBE_TIMEOUT_MS,
  maxResponseSize: 1 << 20,
};

/**
 * Gives a question to the admin listener of this configuration: is the proxy ready? One that runs is asked even when
 * there is a fault in the configuration by now: it goes on without it.
 *
 * @throws ConfigError when there is no listener to ask, or a fault, and no proxy that is ready all the same.
 */
export async function readinessProbe(values: OptionValues): Promise<() => Promise<boolean>> {
  try {
    const { adminListen } = await configurationOf(values);
    return () => isReady(adminListen);
  } catch (fault) {
    const ready = await adminListenOf(values).then(isReady, () => false);
    if (!ready) throw fault;
    return async () => true;
  }
}

async function isReady(adminListen: Config['adminListen']): Promise<boolean> {
  const address = adminListen.find((a) => a.kind === 'unix' || a.port !== 0);
  if (address === undefined) {
    const problem = 'the admin listener is off, or on a port of no fixed number; this command asks it';
    throw new ConfigError([{ key: 'BEARERD_ADMIN_LISTEN', problem }]);
  }
  return probe(address);
}

async function probe(address: ListenAddress): Promise<boolean> {
  const client = new Client(...target(address));
  try {
    const { body } = await client.request({ method: 'GET', path: '/readyz', headers: { host: 'localhost' } });
    return saysReady(await body.text());
  } catch {
    return false;
  } finally {
    await client.destroy();
  }
}

/** Another server at that address may answer 200, too. */
function saysReady(body: string): boolean {
  try {
    return (JSON.parse(body) as { ready?: unknown } | null)?.ready === true;
  } catch {
    return false;
  }
}

function target(address: ListenAddress): [origin: string, options: Client.Options] {
  if (address.kind === 'unix') return ['http://localhost', { ...LIMITS, socketPath: address.path }];
  // The addresses that mean "all of them" can't be connected to everywhere.
  const host = address.host === '0.0.0.0' ? '127.0.0.1' : address.host === '::' ? '::1' : address.host;
  return [`http://${host.includes(':') ? `[${host}]` : host}:${address.port}`, LIMITS];
}
