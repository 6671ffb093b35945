import { randomUUID } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { CA_FILE } from '../support/h2-upstream.ts';
import { ask } from '../support/raw-client.ts';
import { Issuer } from './issuer.ts';
import { Ledger, type Wire } from './ledger.ts';
import { QuickClock } from './quick-clock.ts';
import { Relay } from './relay.ts';
import { type Kind, type Outcome, type Visit, visit } from './visit.ts';

/** How the client comes, and how the upstream is reached. */
export const WAYS = ['TCP', 'TLS', 'HTTP/2', 'Unix socket'] as const;
export type Way = (typeof WAYS)[number];

type FindAddresses = (usual: string) => Error | LookupAddress[] | Promise<LookupAddress[]>;

export interface WorldOptions {
  readonly way: Way;
  /** How much faster bearerd's clock is. */
  readonly speed?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What the upstream's TLS is like. */
  readonly tls?: object;
  /** Done before bearerd starts; it then isn't waited for. */
  readonly before?: (world: World) => unknown;
}

/** bearerd between its client and the two servers that it needs, with a relay before each of these. */
export class World {
  readonly way: Way;
  readonly clock: QuickClock;
  readonly issuer: Issuer;
  readonly ledger: Ledger;
  readonly session: Relay;
  readonly upstream: Relay;
  readonly outcomes: Outcome[] = [];
  /** What a resolver says of the upstream's name. */
  addresses: FindAddresses = (usual) => [{ address: usual, family: 4 }];
  proxy!: TestGateway;
  /** Requests that a case makes with clients of its own; not a number where their count can't be known. */
  unseen = 0;
  #where: number | string = 0;

  private constructor(way: Way, parts: Pick<World, 'clock' | 'issuer' | 'ledger' | 'session' | 'upstream'>) {
    this.way = way;
    this.clock = parts.clock;
    this.issuer = parts.issuer;
    this.ledger = parts.ledger;
    this.session = parts.session;
    this.upstream = parts.upstream;
  }

  static async startedFor(t: Test, options: WorldOptions): Promise<World> {
    const clock = new QuickClock(options.speed ?? 1);
    const issuer = await Issuer.startedFor(t, clock);
    const wire: Wire = options.way === 'Unix socket' ? 'TCP' : options.way;
    const ledger = await Ledger.startedFor(t, wire, (lines) => issuer.judge(lines), options.tls);
    const [session, upstream] = await Promise.all([
      Relay.startedFor(t, issuer.port),
      Relay.startedFor(t, ledger.port),
    ]);
    const world = new World(options.way, { clock, issuer, ledger, session, upstream });
    await options.before?.(world);
    await world.#start(t, options);
    return world;
  }

  /** Where clients connect. */
  get where(): number | string {
    return this.#where;
  }

  /** The upstream is at another address from now on, where the resolver is asked. */
  async secondUpstream(): Promise<Relay> {
    const other = await this.upstream.besides();
    this.addresses = () => [{ address: other.address, family: 4 }];
    return other;
  }

  async visit(kind: Kind, more: Partial<Visit> = {}): Promise<Outcome> {
    const outcome = await visit({ where: this.#where, kind, ...more });
    this.outcomes.push(outcome);
    return outcome;
  }

  /** An operator asks for a login now; gives the status: 200 where there is a new token. */
  async renew(): Promise<number> {
    return (await ask(this.proxy.adminPort, request('POST', '/renew', 'content-length: 0'))).status;
  }

  async #start(t: Test, { way, env = {}, before }: WorldOptions): Promise<void> {
    const { session, upstream, clock } = this;
    const path = join(tmpdir(), `bearerd-${randomUUID()}.sock`);
    const scheme = way === 'TLS' || way === 'HTTP/2' ? 'https' : 'http';
    const baseUrl = `${scheme}://localhost:${upstream.port}`;
    const yaml = `
credentials:
  token:
    type: session
    clientId: sa
    clientSecret: canary
    baseUrl: 'http://${session.address}:${session.port}'
    origins: ['${baseUrl}']
routes: [{ prefix: /, credential: token }]
`;
    const address = upstream.address;
    this.proxy = await gatewayFor(t, {
      baseUrl,
      yaml,
      clock,
      loggedIn: before === undefined,
      env: {
        BEARERD_LISTEN: way === 'Unix socket' ? `unix:${path}` : '127.0.0.1:0',
        ...(scheme === 'https' && { BEARERD_TLS_CA_FILE: CA_FILE }),
        BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
        ...env,
      },
      lookup: (_name, _options, callback) =>
        void Promise.resolve(this.addresses(address)).then((found) =>
          found instanceof Error ? callback(found, []) : callback(null, found),
        ),
    });
    this.#where = way === 'Unix socket' ? path : this.proxy.port;
    t.teardown(() => rmSync(path, { force: true }));
  }
}
