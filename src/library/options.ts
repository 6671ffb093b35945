import type { HostLog } from '../observe/host-log.ts';

export interface LibraryOptions {
  /** Variables: those that `{ env: NAME }` names, `BEARERD_` ones, and outbound proxies. None unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `true` for lines on stderr, or a logger of the program's own. */
  readonly log?: boolean | HostLog;
}
