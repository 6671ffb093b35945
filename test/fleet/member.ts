import { Gateway } from '../../src/app/gateway.ts';
import type { Clock } from '../../src/base/clock.ts';
import { type Event, EventBus } from '../../src/base/events.ts';
import { Problem } from '../../src/base/problem.ts';
import { Secret } from '../../src/base/secret.ts';
import { accountOf } from '../../src/integrations/fleet/account.ts';
import type { Engine } from '../../src/integrations/fleet/engine.ts';
import { AccountKeys } from '../../src/integrations/fleet/keys.ts';
import { SharedLogin } from '../../src/integrations/fleet/shared-login.ts';
import { createSessionLogin } from '../../src/login/session-endpoint.ts';
import { RenewingSource } from '../../src/tokens/renewing-source.ts';
import { configOf } from '../support/gateway.ts';
import { loginServer } from '../support/login-server.ts';
import { SESSION_PATH } from '../support/raw-upstream.ts';
import { SECRET_CANARY } from './issuer.ts';

/** Longer than usual, because a delay of the machine is multiplied by the rate. */
const TOKEN_WAIT_MS = 60_000;

/** One instance of the fleet. */
export interface Member {
  /** Sends one request. @returns what went wrong, in a word; undefined if nothing */
  call(isGood: (token: string) => boolean): Promise<string | undefined>;
  /** Asks for a renewal now. A real proxy has no such call. */
  makeRenewalDue(): void;
  /** The number of the present token; undefined for a real proxy, whose token can't be seen. */
  number(): number | undefined;
  end(): Promise<unknown>;
}

export interface Surroundings {
  readonly issuer: string;
  readonly clock: Clock;
  readonly observe: (event: Event) => void;
}

/** A credential's parts without a proxy, so that a thousand fit into a machine. */
export function simulated({ issuer, clock, observe }: Surroundings, engine: Engine): Member {
  const [clientId, clientSecret] = [new Secret('sa-1'), new Secret(SECRET_CANARY)];
  const grant = { kind: 'service-account', clientId, clientSecret } as const;
  const placement = { name: 'token', origins: [], header: 'Authorization', scheme: 'Bearer' } as const;
  const account = accountOf({ kind: 'session', grant, ...placement }, issuer + SESSION_PATH, undefined);
  const refused = () => {
    const token = source.current();
    if (token !== undefined) void source.rejected(token);
  };
  const shared = new SharedLogin({
    keys: new AccountKeys(account, 'bearerd'),
    engine,
    login: createSessionLogin({ server: loginServer(issuer), path: SESSION_PATH }, grant, clock),
    news: { fresher: () => source.makeRenewalDue(), refused },
    clock,
    observe,
  });
  const source: RenewingSource = new RenewingSource({
    name: 'token',
    login: (signal, spareMs) => shared.logIn(signal, spareMs),
    scheme: 'Bearer',
    renewAfterMs: 15 * 60_000,
    tokenWaitMs: TOKEN_WAIT_MS,
    maxWaiting: 1_000,
    clock,
    observe: (event) => {
      if (event.type === 'token-rejected') shared.rejected();
      observe(event);
    },
  });
  const loop = source.keepFresh();
  return {
    call: (isGood) => callSource(source, isGood),
    makeRenewalDue: () => source.makeRenewalDue(),
    number: () => Number(/-(\d+)-\d+$/.exec(source.current()?.value.expose() ?? '')?.[1] ?? 0),
    async end() {
      source.abort();
      await loop;
      await shared.close();
    },
  };
}

/** Does what a proxy does: sends the request again after a 401. */
async function callSource(
  source: RenewingSource,
  isGood: (token: string) => boolean,
): Promise<string | undefined> {
  try {
    const token = source.current() ?? (await source.wait());
    if (isGood(token.value.expose())) return undefined;
    const second = await source.rejected(token);
    return second !== undefined && isGood(second.value.expose()) ? undefined : '401';
  } catch (error) {
    return error instanceof Problem ? error.code : String(error);
  }
}

/** A complete proxy with its own connection to the engine. */
export async function real(
  { issuer, clock, observe }: Surroundings,
  socket: string,
  open: () => Engine,
): Promise<Member> {
  const env = {
    BEARERD_CLIENT_SECRET: SECRET_CANARY,
    BEARERD_SHARE_URL: `unix:${socket}`,
    BEARERD_TOKEN_WAIT: `${TOKEN_WAIT_MS}ms`,
  };
  const config = await configOf({ baseUrl: issuer, env });
  const events = new EventBus(observe);
  const gateway = new Gateway({ config, events, clock, openEngine: async () => open() });
  await gateway.start();
  return {
    async call() {
      const answer = await fetch(`${gateway.urls[0]}/x`).catch(String);
      if (typeof answer === 'string') return answer;
      await answer.arrayBuffer();
      return answer.status === 200 ? undefined : `status ${answer.status}`;
    },
    makeRenewalDue: () => {},
    number: () => undefined,
    end: () => gateway.destroy(),
  };
}
