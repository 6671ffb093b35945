import { METHODS } from 'node:http';
import { UsageError } from '../base/errors.ts';
import { didYouMean, nearest } from '../config/values/nearest.ts';

export interface OneRequest {
  readonly method: string;
  /** As it stands in a request: path and query, or a URL if it matters which host is asked. */
  readonly target: string;
}

/** How a path or a URL begins. */
const PATH = /^(?:\/|https?:\/\/)/i;

/**
 * `METHOD PATH` (or a URL) of a command line, or that alone for a GET; undefined if there is neither.
 *
 * @throws UsageError
 */
export function oneRequest(command: string, [method, target]: readonly string[]): OneRequest | undefined {
  if (method === undefined) return undefined;
  // A path alone is what most people type.
  if (target === undefined && PATH.test(method)) return { method: 'GET', target: method };
  const name = method.toUpperCase();
  const isMethod = METHODS.includes(name);
  if (/\.ya?ml$/i.test(target ?? method) && !PATH.test(target ?? method))
    throw new UsageError('a configuration file is given with --config');
  if (target === undefined) {
    const problem = isMethod ? 'PATH is missing' : 'PATH must begin with / (or be a URL)';
    throw new UsageError(`${problem}\nusage: bearerd ${command} [METHOD PATH]`);
  }
  if (isMethod) return { method: name, target };
  throw new UsageError(
    `${method}: is not an HTTP method${didYouMean(nearest(name, METHODS)) || '; give one, such as GET'}`,
  );
}
