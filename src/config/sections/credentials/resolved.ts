import type { CredentialConfig } from '../../credential-config.ts';
import type { At } from '../../shapes/at.ts';
import { CREDENTIAL, type DeclaredCredential } from './credential.ts';
import { execInForce } from './exec.ts';
import { apiKeyInForce, basicInForce } from './keys.ts';
import { oauth2InForce } from './oauth2.ts';
import {
  type DeclaredPlacement,
  type Placement,
  placementOf,
  placementShown,
  type Unplaced,
} from './placement.ts';
import { sessionInForce } from './session.ts';

/** A credential as it was declared, and where it goes. */
export interface Credential {
  readonly at: At;
  readonly declared: DeclaredCredential;
  readonly placement: Placement;
}

/** @param baseOrigin where it may go unless it says so */
export function placementIn(
  { type, declared }: DeclaredCredential,
  baseOrigin: string | undefined,
): Placement {
  if (type === 'basic') return placementOf({ ...declared, scheme: 'Basic' }, baseOrigin);
  return placementOf(declared, type === 'session' ? (declared.baseUrl?.origin ?? baseOrigin) : baseOrigin);
}

/** Those without a fault. */
export function usableOf(all: ReadonlyMap<string, Credential>): ReadonlyMap<string, CredentialConfig> {
  return new Map(
    [...all].flatMap(([name, { at, declared, placement }]) => {
      const content = contentOf(declared, at);
      return content === undefined ? [] : [[name, { name, ...placement, ...content }] as const];
    }),
  );
}

function contentOf({ type, declared }: DeclaredCredential, at: At): Unplaced<CredentialConfig> | undefined {
  switch (type) {
    case 'session':
      return sessionInForce(declared);
    case 'apiKey':
      return apiKeyInForce(declared);
    case 'basic':
      return basicInForce(declared);
    case 'oauth2':
      return oauth2InForce(declared);
    case 'exec':
      return execInForce(declared, at);
  }
}

/** Origins besides the upstreams' that get a secret, with the place that names each. */
export function loginOrigins(all: ReadonlyMap<string, Credential>): readonly (readonly [At, string])[] {
  return [...all.values()].flatMap(({ at, declared: { type, declared } }) => {
    const named =
      type === 'session'
        ? { baseUrl: declared.baseUrl?.origin }
        : type === 'oauth2'
          ? {
              tokenUrl: declared.tokenUrl?.origin,
              issuer: declared.issuer && new URL(declared.issuer).origin,
            }
          : {};
    return Object.entries(named).flatMap(([key, origin]) =>
      origin ? [[at.below(key), origin] as const] : [],
    );
  });
}

/** As the file would say it. */
export function credentialsShown(all: ReadonlyMap<string, Credential>): Record<string, unknown> {
  const shown = [...all].map(
    ([
      name,
      {
        declared: { type, declared },
        placement,
      },
    ]) => {
      const { in: _in, name: _name, ...own }: DeclaredPlacement = declared;
      const full = { type, declared: { ...own, ...placementShown(placement) } };
      return [name, CREDENTIAL.show(full as DeclaredCredential)];
    },
  );
  return Object.fromEntries(shown);
}
