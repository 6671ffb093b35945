import { Problem } from '../base/problem.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { TokenSource } from '../login/credential.ts';
import type { Forwardable } from './forwardable.ts';

/** The source of the token for a request; undefined if it needs no token: it has a key, the client's credential, or none. */
export function tokenSource({ route, keepsClientCredential }: Forwardable): TokenSource | undefined {
  return route.credential?.kind === 'token' && !keepsClientCredential ? route.credential.source : undefined;
}

/**
 * Tells the token's source that the upstream answered 401. @returns a newer token, or a promise of one, to send the request
 * with once more; undefined if there can't be one, so that the 401 is the answer
 */
export function replacementToken(
  forwardable: Forwardable,
  token: AccessToken | undefined,
): AccessToken | Promise<AccessToken | undefined> | undefined {
  return token === undefined ? undefined : tokenSource(forwardable)?.rejected(token);
}

/** Records the state of the credential when the request first needs it. */
export function recordTokenState(
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

/** The problem for a request that waited for a token in vain. */
export function noTokenProblem(reason: unknown): Problem {
  return reason instanceof Problem ? reason : new Problem('token-unavailable', { cause: reason });
}
