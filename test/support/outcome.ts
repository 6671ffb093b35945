import { LoginError } from '../../src/base/login-error.ts';
import type { IssuedToken } from '../../src/login/issued-token.ts';

/** A token that can be compared with a text. */
export interface ReadableToken extends Omit<IssuedToken, 'token'> {
  readonly token: string;
}

export function readable(issued: IssuedToken): ReadableToken {
  return { ...issued, token: issued.token.expose() };
}

/** How a login ended; what is neither a token nor a LoginError fails the test. */
export async function outcomeOf(login: Promise<IssuedToken>): Promise<ReadableToken | LoginError> {
  try {
    return readable(await login);
  } catch (error) {
    if (error instanceof LoginError) return error;
    throw error;
  }
}

/** What a promise gives, or the error that it ends with. */
export function settled<T>(promise: Promise<T>): Promise<T | Error> {
  return promise.catch((error: Error) => error);
}
