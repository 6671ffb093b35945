import { Problem } from '../base/problem.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { TokenSource } from '../login/credential.ts';
import type { Forwardable } from './forwardable.ts';

/** Where the token for a request comes from; undefined where it needs none (a key, the client's own, nothing). */
export function tokenSource({ route, keepsClientCredential }: Forwardable): TokenSource | undefined {
  return route.credential?.kind === 'token' && !keepsClientCredential ? route.credential.source : undefined;
}

/**
 * Tells the source that the upstream answered 401 to its token. Gives what the request may be sent once more with:
 * a newer token, or a promise of one; undefined where the 401 has to stand.
 */
export function secondChance(
  forwardable: Forwardable,
  token: AccessToken | undefined,
): AccessToken | Promise<AccessToken | undefined> | undefined {
  return token === undefined ? undefined : tokenSource(forwardable)?.rejected(token);
}

/** Records the state of the credential when a request first asks for it. */
export function noteToken(
  { route, event, keepsClientCredential }: Forwardable,
  source: TokenSource | undefined,
  token: AccessToken | undefined,
): void {
  if (event.tokenState !== undefined) return;
  if (source !== undefined) {
    event.tokenState = source.stateWith(token);
    if (token !== undefined) event.tokenSinceMonoMs = token.expires.monoMs - token.lifetimeMs;
  } else if (route.credential !== undefined && !keepsClientCredential) {
    event.tokenState = 'ready';
  }
}

/** Why there is no token. */
export function noToken(reason: unknown): Problem {
  return reason instanceof Problem ? reason : new Problem('token-unavailable', { cause: reason });
}
