import { lookup } from 'node:dns';
import { Client } from 'undici';
import { ConfigError } from '../base/errors.ts';
import { codeOf, connectionFailureOf } from '../base/failures/kind.ts';
import { CONNECTION_FAILURES } from '../base/failures/words.ts';
import type { ListenAddress } from '../config/config.ts';
import { formatAddress } from '../config/values/addresses.ts';
import type { OptionValues } from './command.ts';
import { adminListenOf } from './configuration.ts';
import { isReadiness, whyUnready } from './readiness-words.ts';

const PROBE_TIMEOUT_MS = 2_000;
/** Where `localhost` listens, whichever of the two the machine has: its own table of names may know one only. */
const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const LIMITS: Client.Options = {
  connect: {
    timeout: PROBE_TIMEOUT_MS,
    lookup: (hostname, options, done) =>
      hostname === 'localhost' ? done(null, LOOPBACK) : lookup(hostname, options, done),
  },
  headersTimeout: PROBE_TIMEOUT_MS,
  bodyTimeout: PROBE_TIMEOUT_MS,
  maxResponseSize: 1 << 20,
};

/** What somebody sees who looks at the admin listener: why the proxy isn't ready; nothing where it is. */
export type Sight = readonly string[];

/**
 * Gives a look at the admin listener of this configuration, of which it needs the address alone: no secret has to be
 * there, and a proxy that runs is ready in spite of a fault in the configuration by now.
 *
 * @throws ConfigError when there is no listener to ask.
 */
export async function readinessProbe(values: OptionValues): Promise<() => Promise<Sight>> {
  const address = (await adminListenOf(values)).find((a) => a.kind === 'unix' || a.port !== 0);
  if (address === undefined) {
    const problem = 'the admin listener is off, or on a port of no fixed number; this command asks it';
    throw new ConfigError([{ key: 'BEARERD_ADMIN_LISTEN', problem }]);
  }
  return () => look(address);
}

async function look(address: ListenAddress): Promise<Sight> {
  const client = new Client(...target(address));
  try {
    const readiness = await get(client, '/readyz');
    if (!isReadiness(readiness)) return [`what listens at ${formatAddress(address)} is no bearerd`];
    // It says more than whoever probes may know, and nothing at an address that is not loopback.
    return readiness.ready ? [] : whyUnready(readiness, await get(client, '/status').catch(() => undefined));
  } catch (error) {
    return [unseen(formatAddress(address), error)];
  } finally {
    await client.destroy();
  }
}

/** JSON; undefined for what is none. Another server at that address may answer 200, too. */
async function get(client: Client, path: string): Promise<unknown> {
  const { body } = await client.request({ method: 'GET', path, headers: { host: 'localhost' } });
  const text = await body.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unseen(address: string, error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return `nothing listens at ${address}`;
  if (code === 'EACCES') return `this user may not connect to ${address}`;
  return `the admin listener at ${address} ${CONNECTION_FAILURES[connectionFailureOf(error)].what} (${code})`;
}

function target(address: ListenAddress): [origin: string, options: Client.Options] {
  if (address.kind === 'unix') return ['http://localhost', { ...LIMITS, socketPath: address.path }];
  // The addresses that mean "all of them" can't be connected to everywhere.
  const host = address.host === '0.0.0.0' ? '127.0.0.1' : address.host === '::' ? '::1' : address.host;
  return [`http://${formatAddress({ ...address, host })}`, LIMITS];
}
