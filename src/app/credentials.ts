import type { Clock } from '../base/clock.ts';
import { untilMs } from '../base/deadline.ts';
import type { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import { type CredentialConfig, secretsIn } from '../config/sections/credentials/credential.ts';
import type { PresentCredential } from '../integrations/sink.ts';
import type { Credential, TokenSource } from '../login/credential.ts';
import { basicValueOf, headerValueOf } from '../login/header-value.ts';
import { type FixedCredentialConfig, type LoginCredentialConfig, logsIn } from './logins.ts';

/** The value that a fixed credential sends, without its scheme. */
export function sentOf(config: FixedCredentialConfig): Secret {
  return config.kind === 'basic' ? basicValueOf(config.username, config.password) : config.key;
}

/** The secrets that no scrubbed answer may hold: all that the configured credentials send, upstream or to log in. */
export function secretsOf({ credentials }: Config): readonly Secret[] {
  return [...credentials.values()].flatMap((credential) => [
    ...secretsIn(credential),
    ...(logsIn(credential) ? [] : [sentOf(credential)]),
  ]);
}

/** A credential for the routes, whose tokens come from `source`. */
export function tokenCredential(config: LoginCredentialConfig, source: TokenSource): Credential {
  return { ...placementOf(config), kind: 'token', source };
}

/** A credential for the routes that needs no login. */
export function fixedCredential(config: FixedCredentialConfig): Credential {
  const value = sentOf(config);
  return { ...placementOf(config), kind: 'fixed', headerValue: headerValueOf(value, config.scheme), value };
}

/** What a credential of the routes has besides its value. */
export function placementOf({ name, header, queryOrCookie, origins }: CredentialConfig) {
  return { name, header, ...(queryOrCookie && { queryOrCookie }), origins: new Set(origins) };
}

/** The value that a sink may write now; undefined while there is no token. */
export function presentOf(credential: Credential | undefined, clock: Clock): PresentCredential | undefined {
  if (credential?.kind === 'fixed') {
    const { headerValue, value } = credential;
    const always = { usableMs: Number.POSITIVE_INFINITY, lifetimeMs: Number.POSITIVE_INFINITY };
    return { headerValue, value, ...always };
  }
  const token = credential?.source.current();
  if (token === undefined) return undefined;
  const { headerValue, value, usableUntil, lifetimeMs } = token;
  return { headerValue, value, usableMs: untilMs(usableUntil, clock), lifetimeMs };
}
