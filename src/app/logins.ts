import type { Clock } from '../base/clock.ts';
import { LoginError } from '../base/login-error.ts';
import { environmentWithout } from '../base/run-command.ts';
import { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import type { CredentialConfig } from '../config/sections/credentials/credential.ts';
import type { ApiKeyCredentialConfig, BasicCredentialConfig } from '../config/sections/credentials/keys.ts';
import type { SessionCredentialConfig } from '../config/sections/credentials/session.ts';
import { COOKIE_VALUE } from '../config/values/header-values.ts';
import { createExecLogin } from '../login/command-token.ts';
import type { Login } from '../login/http-login.ts';
import { createOAuth2Login } from '../login/oauth2-endpoint.ts';
import { createSessionLogin } from '../login/session-endpoint.ts';
import type { SessionPlace } from '../routes/closed-session-path.ts';
import type { SessionPlaces } from '../routes/route-table.ts';
import type { UpstreamPools } from '../upstream/pools.ts';
import { tokenServers } from './token-servers.ts';

/** A credential that needs no login. */
export type FixedCredentialConfig = ApiKeyCredentialConfig | BasicCredentialConfig;

/** A credential whose token comes from a login. */
export type LoginCredentialConfig = Exclude<CredentialConfig, FixedCredentialConfig>;

export function logsIn(credential: CredentialConfig | undefined): credential is LoginCredentialConfig {
  return credential !== undefined && credential.kind !== 'api-key' && credential.kind !== 'basic';
}

/** The login of a credential: the one place that knows all kinds. */
export function loginFor(
  credential: LoginCredentialConfig,
  config: Config,
  pools: UpstreamPools,
  clock: Clock,
): Login {
  const login = loginOf(credential, config, pools, clock);
  return isCookie(credential) ? forCookie(login) : login;
}

function isCookie({ queryOrCookie }: CredentialConfig): boolean {
  return queryOrCookie?.in === 'cookie';
}

/** Refuses a token with characters that no cookie may hold: it would be read as another value, or as two cookies. */
function forCookie(login: Login): Login {
  return async (signal) => {
    const issued = await login(signal);
    if (!issued.token.fits(COOKIE_VALUE))
      throw new LoginError('unusable', 'the token holds characters that no cookie may hold');
    return issued;
  };
}

function loginOf(
  credential: LoginCredentialConfig,
  config: Config,
  pools: UpstreamPools,
  clock: Clock,
): Login {
  const endpointAt = (origin: string, path: string) => {
    return { server: pools.ofOrigin(origin, config.timeouts.connectMs), path };
  };
  switch (credential.kind) {
    case 'session': {
      const { origin, basePath, path } = sessionPlaceOf(credential, config);
      return createSessionLogin(endpointAt(origin, basePath + path), credential.grant, clock);
    }
    case 'oauth2':
      return createOAuth2Login(tokenServers(config, pools, credential.tls), credential, clock);
    case 'exec':
      return createExecLogin(credential, environmentWithout(config.secretVariables), clock);
  }
}

/**
 * What a new configuration does to the token source of a credential. A source that stays gives its present token to new
 * requests, and later tokens to requests that began before: so both must be allowed wherever these go.
 * - `same`: the source stays, with its token;
 * - `changed`: the source stays. A new login follows at once, and the present token is used until then;
 * - `moved`: an origin was removed, so requests under way there get no later token. A new source continues with the
 *   present token, since the login is the same;
 * - `replaced`: a new source begins without a token.
 *
 * @param outdated the present token is from a login before that of `before`
 */
export function sourceChange(
  credential: LoginCredentialConfig,
  before: Config,
  after: Config,
  outdated: boolean,
): 'same' | 'changed' | 'moved' | 'replaced' {
  const old = before.credentials.get(credential.name);
  if (!logsIn(old) || !same(issuerOf(old, before), issuerOf(credential, after))) return 'replaced';
  if (isCookie(old) !== isCookie(credential)) return 'replaced'; // Only a token for a cookie was checked to fit there.
  const loses = old.origins.some((origin) => !credential.origins.includes(origin));
  const gains = credential.origins.some((origin) => !old.origins.includes(origin));
  const isSame = sameCredential(old, credential);
  if ((loses || gains) && (outdated || !isSame)) return 'replaced';
  if (loses) return 'moved';
  return isSame ? 'same' : 'changed';
}

/** What gives out the tokens of a credential: an endpoint, or a command. */
function issuerOf(credential: LoginCredentialConfig, config: Config): readonly unknown[] {
  switch (credential.kind) {
    case 'session':
      return ['session', sessionUrlOf(credential, config)];
    case 'oauth2':
      return ['oauth2', credential.tokenEndpoint ?? credential.issuer];
    case 'exec':
      return ['exec', ...credential.command];
  }
}

/** The origin where a credential logs in, or the issuer that names it; undefined for a command. */
export function loginServerOf(credential: LoginCredentialConfig, config: Config): string | undefined {
  switch (credential.kind) {
    case 'session':
      return sessionPlaceOf(credential, config).origin;
    case 'oauth2':
      return credential.tokenEndpoint?.origin ?? credential.issuer;
    case 'exec':
      return undefined;
  }
}

/** The URL of a session credential's endpoint; undefined for other kinds. */
export function sessionUrlOf(credential: CredentialConfig, config: Config): string | undefined {
  if (credential.kind !== 'session') return undefined;
  const { origin, basePath, path } = sessionPlaceOf(credential, config);
  return origin + basePath + path;
}

/** The session endpoint of a credential: its own, or the global one. */
function sessionPlaceOf({ baseUrl, sessionPath }: SessionCredentialConfig, config: Config): SessionPlace {
  return { ...(baseUrl ?? config.upstream), path: sessionPath ?? config.sessionPath };
}

/** Every known session endpoint, the global one first: no request is forwarded to one. */
export function sessionPlaces(config: Config): SessionPlaces {
  const sessions = [...config.credentials.values()].filter((credential) => credential.kind === 'session');
  const own = sessions.filter(
    ({ baseUrl, sessionPath }) => baseUrl !== undefined || sessionPath !== undefined,
  );
  return [
    { ...config.upstream, path: config.sessionPath },
    ...own.map((credential) => sessionPlaceOf(credential, config)),
  ];
}

/** Whether two credentials differ at most in their origins and their place in a request. */
function sameCredential(a: CredentialConfig, b: CredentialConfig): boolean {
  const { header: _a, origins: _b, queryOrCookie: _e, ...ours } = a;
  const { header: _c, origins: _d, queryOrCookie: _f, ...theirs } = b;
  return same(ours, theirs);
}

export function same(a: unknown, b: unknown): boolean {
  if (a instanceof Secret) return b instanceof Secret && a.equals(b);
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  const [ours, theirs] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return ours.size === theirs.size && [...ours].every(([key, value]) => same(value, theirs.get(key)));
}
