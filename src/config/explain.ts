import type { ConfigError } from '../errors.ts';

/** One fault a line, `KEY: problem`. */
export function formatFaults(error: ConfigError): string {
  return error.faults.map(({ key, problem }) => `${key}: ${problem}`).join('\n');
}
