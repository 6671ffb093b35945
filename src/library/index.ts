// The package's entry point. Importing it has no effect.
export { ConfigError, type ConfigFault } from '../base/config-error.ts';
export { ClosedError, ListenError } from '../base/errors.ts';
export type { HostLog } from '../observe/host-log.ts';
export type { Status } from '../observe/status.ts';
export { type Bearerd, createBearerd } from './bearerd.ts';
export type {
  CallerObject,
  ConfigObject,
  CredentialObject,
  RouteObject,
  SecretValue,
  SinkObject,
} from './config-object.ts';
export type { LibraryOptions } from './hosted.ts';
export { createTokenSource, type Token, type TokenSource } from './token-source.ts';
