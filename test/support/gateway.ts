import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { Gateway } from '../../src/app/gateway.ts';
import type { Clock } from '../../src/base/clock.ts';
import { type Event, EventBus, type Observe, type RequestEvent } from '../../src/base/events.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Tracing } from '../../src/forward/trace.ts';
import type { Lookup } from '../../src/upstream/dial.ts';
import type { Lifetime } from './lifetime.ts';
import { ask, RawClient, type RawResponse, until } from './raw-client.ts';

export interface GatewayOptions {
  readonly baseUrl: string;
  /** In place of our own, of which `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A configuration file's text. */
  readonly yaml?: string;
  /** Where it runs: secrets are read from the files there. Else there is no file but certificates and keys. */
  readonly folder?: string;
  readonly clock?: Clock;
  readonly lookup?: Lookup;
  /** What follows each request. */
  readonly tracing?: (events: EventBus) => Tracing;
  /** False where no login can succeed: else the start waits for one. */
  readonly loggedIn?: boolean;
  /** True where something of ours is made to go wrong: else none may be told of. */
  readonly internalErrors?: boolean;
}

/** The whole proxy on a free port, and what it tells of itself. */
export interface TestGateway {
  readonly gateway: Gateway;
  readonly port: number;
  readonly adminPort: number;
  readonly events: Event[];
  readonly tell: Observe;
  /** The events of requests that are over. */
  readonly requests: () => RequestEvent[];
  readonly internalErrors: () => Event[];
  readonly client: () => Promise<RawClient>;
  readonly ask: (bytes: string | Buffer) => Promise<RawResponse>;
  readonly get: (target: string, ...lines: string[]) => Promise<RawResponse>;
}

const SERVICE_ACCOUNT = { BEARERD_CLIENT_ID: 'sa-1', BEARERD_CLIENT_SECRET: 'client-secret' };

export function configOf({ baseUrl, env = {}, yaml, folder }: GatewayOptions): Promise<Config> {
  return loadConfig({
    env: {
      BEARERD_BASE_URL: baseUrl,
      ...SERVICE_ACCOUNT,
      BEARERD_LISTEN: '127.0.0.1:0',
      BEARERD_ADMIN_LISTEN: 'off',
      ...env,
    },
    readFile: (path) => {
      if (yaml !== undefined && path.endsWith('bearerd.yaml')) return yaml;
      if (folder !== undefined || path.endsWith('.pem') || path.endsWith('.key'))
        return readFileSync(path, 'utf8');
      throw Object.assign(new Error(path), { code: 'ENOENT' });
    },
    cwd: folder ?? '/nowhere',
  });
}

export async function gatewayFor(t: Lifetime, options: GatewayOptions): Promise<TestGateway> {
  const events: Event[] = [];
  const { clock, lookup, loggedIn = true } = options;
  const config = await configOf(options);
  const bus = new EventBus((event) => events.push(event));
  const tracing = options.tracing?.(bus);
  const gateway = new Gateway({
    config,
    events: bus,
    tracing,
    ...(clock && { clock }),
    ...(lookup && { lookup }),
  });
  await gateway.start();
  const internalErrors = () => events.filter((event) => event.type === 'internal-error');
  t.teardown(async () => {
    await gateway.destroy();
    if (options.internalErrors !== true && internalErrors().length > 0)
      throw new Error(`internal errors: ${inspect(internalErrors())}`);
  });
  const needsToken = config.routes.some(
    ({ credential }) => config.credentials.get(credential)?.kind === 'session',
  );
  if (needsToken && loggedIn)
    await until(() => events.some(({ type }) => type === 'login-succeeded'), 'no login');
  const port = portOf(gateway.urls[0]);
  return {
    gateway,
    port,
    adminPort: portOf(gateway.adminUrls[0]),
    events,
    tell: bus.emit,
    requests: () => events.filter((event) => event.type === 'request'),
    internalErrors,
    client: () => RawClient.to(port),
    ask: (bytes) => ask(port, bytes),
    get: (target, ...lines) => ask(port, request('GET', target, ...lines)),
  };
}

function portOf(url: string | undefined): number {
  return url === undefined || url.startsWith('unix:') ? 0 : Number(new URL(url).port);
}

/** A request's head with a `Host`, each character a byte. */
export function request(method: string, target: string, ...lines: string[]): string {
  return `${method} ${target} HTTP/1.1\r\n${['host: localhost', ...lines].map((line) => `${line}\r\n`).join('')}\r\n`;
}

/** A body in chunks. */
export function chunked(...parts: string[]): string {
  return `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
}
