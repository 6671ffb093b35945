import { ConfigError, ConfigFileError } from '../base/config-error.ts';
import { ListenError, NotWrittenError, UsageError } from '../base/errors.ts';
import { LoginError } from '../base/login-error.ts';

/** After sysexits.h, so that a supervisor can tell a wrong configuration from a passing fault. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 64,
  noInput: 66,
  unavailable: 69,
  noAddress: 71,
  notWritten: 73,
  loginRefused: 77,
  config: 78,
} as const;

/** The exit code of an error that a command may end with; undefined for an unexpected one. */
export function exitCodeOf(error: unknown): number | undefined {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof ConfigFileError) return EXIT.noInput;
  if (error instanceof NotWrittenError) return EXIT.notWritten;
  if (error instanceof ListenError) return EXIT.noAddress;
  if (error instanceof ConfigError) return EXIT.config;
  if (error instanceof LoginError) return error.code === 'refused' ? EXIT.loginRefused : EXIT.unavailable;
  return undefined;
}
