import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { tablesOf } from '../../src/cli/route-tables.ts';
import { haproxyConfiguration } from '../../src/integrations/haproxy/configuration.ts';
import { runtimeCommand } from '../../src/integrations/haproxy/runtime-api.ts';
import { freePort } from './free-port.ts';
import { configOf, gatewayFor, type TestGateway } from './gateway.ts';
import { haproxyFor } from './haproxy.ts';
import { ask } from './raw-client.ts';
import { RawUpstream } from './raw-upstream.ts';

/** bearerd, and a HAProxy in front of it with the configuration that bearerd has rendered. */
export interface Pair extends TestGateway {
  readonly upstream: RawUpstream;
  /** HAProxy's. */
  readonly front: number;
  /** The socket for what failed. */
  readonly retriesPath: string;
  /** What the map holds, a line for each credential. */
  readonly entries: () => Promise<readonly string[]>;
  /** Kills HAProxy; the other starts it again. */
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

export interface PairOptions {
  /** But for the base URL and the sink. */
  readonly yaml: string;
  /** Unless the upstream's own. */
  readonly baseUrl?: string;
  readonly basePath?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** How many credentials the map is to hold before it begins. */
  readonly credentials?: number;
  readonly upstream?: RawUpstream;
  readonly clock?: Clock;
}

export async function pairFor(t: Test, options: PairOptions): Promise<Pair> {
  // A short path: that of a socket may not be long.
  const dir = mkdtempSync(join(tmpdir(), 'lanes-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const [socket, map, file] = [join(dir, 's'), join(dir, 'm'), join(dir, 'cfg')];
  writeFileSync(map, '');
  const upstream = options.upstream ?? (await RawUpstream.startedFor(t));
  const yaml = `${options.yaml}\nsinks: [{ haproxy: 'unix:${socket}', map: ${map} }]`;
  const configured = {
    baseUrl: options.baseUrl ?? upstream.url + (options.basePath ?? ''),
    yaml,
    ...(options.env && { env: options.env }),
    ...(options.clock && { clock: options.clock }),
  };
  const gateway = await gatewayFor(t, configured);
  const config = {
    ...(await configOf(configured)),
    listen: [{ kind: 'tcp', host: '127.0.0.1', port: gateway.port } as const],
  };
  const front = await freePort();
  writeFileSync(
    file,
    haproxyConfiguration(config, tablesOf(config), [{ kind: 'tcp', host: '127.0.0.1', port: front }]),
  );
  const entries = async () =>
    (await runtimeCommand(socket, `show map ${map}`)).split('\n').filter((line) => line !== '');
  const wanted = options.credentials ?? 1;
  const holdsAll = () =>
    entries().then(
      (all) => all.length === wanted,
      () => false,
    );
  const started = () => haproxyFor(t, file, holdsAll);
  let haproxy = await started();
  return {
    ...gateway,
    upstream,
    front,
    retriesPath: `${socket}.retries`,
    entries,
    ask: (bytes) => ask(front, bytes),
    kill: () => haproxy.stop(),
    restart: async () => {
      haproxy = await started();
    },
  };
}

/** The system's clock, which can be set forward: a token may be given up by force every ten seconds only. */
export function forwardClock(): Clock & { forward(ms: number): void } {
  let offset = 0;
  return {
    ...systemClock,
    monoMs: () => systemClock.monoMs() + offset,
    forward: (ms) => {
      offset += ms;
    },
  };
}
