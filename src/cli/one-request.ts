import { METHODS } from 'node:http';
import { UsageError } from '../base/errors.ts';
import { didYouMean, nearest } from '../config/values/nearest.ts';

export interface OneRequest {
  readonly method: string;
  /** As it stands in a request: path and query, or a URL where it matters which host is asked. */
  readonly target: string;
}

/**
 * `METHOD PATH` (or a URL) of a command line, or that alone for a GET; undefined where there is neither.
 *
 * @throws UsageError
 */
export function oneRequest(command: string, [method, target]: readonly string[]): OneRequest | undefined {
  if (method === undefined) return undefined;
  // A path alone is what most people type.
  if (target === undefined && /^(?:\/|https?:\/\/)/i.test(method)) return { method: 'GET', target: method };
  if (target === undefined) throw new UsageError(`PATH is missing\nusage: bearerd ${command} [METHOD PATH]`);
  const name = method.toUpperCase();
  if (METHODS.includes(name)) return { method: name, target };
  throw new UsageError(
    `${method}: is not an HTTP method${didYouMean(nearest(name, METHODS)) || '; give one, such as GET'}`,
  );
}
