import { ListenError } from '../../base/errors.ts';

/** File descriptors that listen already, by the listener that they are for. */
export interface PassedSockets {
  readonly proxy: readonly number[];
  readonly admin: readonly number[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** SD_LISTEN_FDS_START of sd_listen_fds(3). */
const FIRST = 3;
/** What systemd calls a socket without a name of its own in a version before it had names. */
const UNNAMED = 'unknown';

/**
 * The sockets that systemd passes to this process (sd_listen_fds(3)). One without a name is the proxy's; one with
 * another name than ours might be anything, and is not opened to anybody.
 *
 * @throws ListenError
 */
export function passedSockets(env: Environment, pid: number): PassedSockets {
  const count = /^\d{1,4}$/.test(env.LISTEN_FDS ?? '') ? Number(env.LISTEN_FDS) : 0;
  const sockets = { proxy: [] as number[], admin: [] as number[] };
  // Meant for another process, from whom we have the environment.
  if (env.LISTEN_PID !== String(pid)) return sockets;
  const names = (env.LISTEN_FDNAMES ?? '').split(':');
  for (let n = 0; n < count; n++) {
    const name = names[n] ?? '';
    if (name === 'proxy' || name === 'admin') sockets[name].push(FIRST + n);
    else if (name === '' || name === UNNAMED) sockets.proxy.push(FIRST + n);
    else
      throw new ListenError(
        `a socket that systemd passes is named neither "proxy" nor "admin": set FileDescriptorName= in its unit`,
      );
  }
  return sockets;
}
