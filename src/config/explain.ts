import { type ConfigError, formatFault } from '../errors.ts';

/** One fault a line, `KEY: problem (bearerd.yaml:12)`. */
export function formatFaults(error: ConfigError): string {
  return error.faults.map(formatFault).join('\n');
}
