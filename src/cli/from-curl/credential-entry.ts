import { UsageError } from '../../base/errors.ts';
import type { CurlLine } from './curl-line.ts';
import { type Given, givenValue } from './given-value.ts';

/** A value in the file: text as it is, or a secret, of which only the place stands there. */
export type Value = string | { readonly secret: Given };

export type Entry = Value | { readonly map: Readonly<Record<string, Value>> };

/** The credential of the line, as an entry of `credentials`. */
export interface FoundCredential {
  /** Undefined if a client certificate is all there is. */
  readonly name: 'token' | 'apiKey' | 'account' | undefined;
  readonly fields: Readonly<Record<string, Entry>>;
  /** The path of the session endpoint, if the line is a login there. */
  readonly sessionPath?: string;
  /** The line asks for a token: it is no call of the API. */
  readonly isLogin: boolean;
  /** What else looks like a credential, or belongs to the login, and is not carried, in words. */
  readonly others: readonly string[];
  /** What the person has to know besides. */
  readonly notes: readonly string[];
}

/** @throws UsageError if it is empty, or only a part of it is a variable. */
export function secret(text: string, line: CurlLine, what: string): { readonly secret: Given } {
  if (text === '') throw new UsageError(`${what} is empty: give the line with the credential in it`);
  return { secret: givenValue(text, line, what) };
}
