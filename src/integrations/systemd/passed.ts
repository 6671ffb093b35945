import type { Environment } from '../../base/environment.ts';
import { ListenError } from '../../base/errors.ts';

/** Listening file descriptors, by their listener. */
export interface PassedSockets {
  readonly proxy: readonly number[];
  readonly admin: readonly number[];
}

/** SD_LISTEN_FDS_START of sd_listen_fds(3). */
const FIRST = 3;
/** The name that old versions of systemd give to every socket. */
const UNNAMED = 'unknown';

/**
 * The sockets that systemd passes to this process (sd_listen_fds(3)). A socket without a name belongs to the proxy. Any
 * other name than `proxy` and `admin` is refused, because the socket might be meant for something else.
 *
 * @throws ListenError
 */
export function passedSockets(env: Environment, pid: number): PassedSockets {
  const count = /^\d{1,4}$/.test(env.LISTEN_FDS ?? '') ? Number(env.LISTEN_FDS) : 0;
  const sockets: Record<keyof PassedSockets, number[]> = { proxy: [], admin: [] };
  // The sockets are for another process, from which bearerd got its environment.
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
