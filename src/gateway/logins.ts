import type { Clock } from '../clock.ts';
import type { ApiKeyCredentialConfig, Config, CredentialConfig } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { createExecLogin } from '../credentials/command-token.ts';
import { createOAuth2Login } from '../credentials/oauth2-endpoint.ts';
import { createLogin, type Login } from '../credentials/session-endpoint.ts';
import type { UpstreamPools } from '../upstream/pools.ts';

/** A credential that is a token, and has to be got; a key is at hand. */
export type LoginCredentialConfig = Exclude<CredentialConfig, ApiKeyCredentialConfig>;

export function logsIn(credential: CredentialConfig | undefined): credential is LoginCredentialConfig {
  return credential !== undefined && credential.kind !== 'api-key';
}

/** How this credential gets its token: the one place that knows all the ways. */
export function loginFor(
  credential: LoginCredentialConfig,
  config: Config,
  pools: UpstreamPools,
  clock: Clock,
): Login {
  const endpointAt = (origin: string, path: string) => {
    return { server: pools.get(origin, config.timeouts.connectMs), path };
  };
  switch (credential.kind) {
    case 'session': {
      const { origin, basePath } = config.upstream;
      return createLogin(endpointAt(origin, basePath + config.sessionPath), credential.grant, clock);
    }
    case 'oauth2': {
      const { origin, path } = credential.tokenEndpoint;
      return createOAuth2Login(endpointAt(origin, path), credential, clock);
    }
    case 'exec':
      return createExecLogin(credential, withoutSecrets(config.secretVariables), clock);
  }
}

/**
 * What a new configuration does to a credential's login.
 * - `same`: nothing;
 * - `changed`: a new login follows at once, and the token at hand serves until then;
 * - `replaced`: the token at hand is from somebody else, and may not go where the new one goes.
 */
export function loginChange(
  credential: LoginCredentialConfig,
  before: Config,
  after: Config,
): 'same' | 'changed' | 'replaced' {
  const old = before.credentials.get(credential.name);
  if (!logsIn(old) || issuerOf(old, before) !== issuerOf(credential, after)) return 'replaced';
  const sameEndpoint = credential.kind !== 'session' || sessionUrlOf(before) === sessionUrlOf(after);
  return sameEndpoint && sameCredential(old, credential) ? 'same' : 'changed';
}

function issuerOf(credential: LoginCredentialConfig, config: Config): string {
  switch (credential.kind) {
    case 'session':
      return `session ${config.upstream.origin}`;
    case 'oauth2':
      return `oauth2 ${credential.tokenEndpoint.origin}`;
    case 'exec':
      return 'exec';
  }
}

function sessionUrlOf({ upstream, sessionPath }: Config): string {
  return upstream.origin + upstream.basePath + sessionPath;
}

/** Whether both log in alike and make the same of the token. Where it may go, and in which header, is no matter. */
function sameCredential(a: CredentialConfig, b: CredentialConfig): boolean {
  const { header: _a, origins: _b, ...ours } = a;
  const { header: _c, origins: _d, ...theirs } = b;
  return same(ours, theirs);
}

function same(a: unknown, b: unknown): boolean {
  if (a instanceof Secret) return b instanceof Secret && a.equals(b);
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  const [ours, theirs] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return ours.size === theirs.size && [...ours].every(([key, value]) => same(value, theirs.get(key)));
}

/** Our own environment, as a command of ours may see it. */
function withoutSecrets(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.includes(name)));
}
