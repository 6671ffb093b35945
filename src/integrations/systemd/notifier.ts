import { execFile } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a message takes at most: systemd may be busy, or not be there. */
const MESSAGE_MS = 5_000;

export interface Notifier {
  /** Resolves when it has been said, or can't be. Messages go out one after the other. */
  say(state: 'READY=1' | 'STOPPING=1'): Promise<void>;
  /** No more signs of life. */
  end(): void;
}

/**
 * Tells systemd how it stands (sd_notify(3)), by its own program: Node has no datagram sockets of the kind that
 * NOTIFY_SOCKET is, and a native addon for three words is a lot. The program is given nothing but where to say it.
 *
 * @param failed called once when a message could not be sent
 */
export function notifierFor(
  env: Environment,
  pid: number,
  failed: (reason: string) => void,
): Notifier | undefined {
  const { NOTIFY_SOCKET, PATH } = env;
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return undefined;
  let last = Promise.resolve();
  let told = false;
  const send = (state: string): Promise<void> =>
    new Promise((resolve) => {
      const options = { env: { NOTIFY_SOCKET, ...(PATH && { PATH }) }, timeout: MESSAGE_MS };
      execFile('systemd-notify', [state], options, (error) => {
        if (error !== null && !told) {
          told = true;
          failed(error.code === 'ENOENT' ? 'systemd-notify does not exist' : 'systemd-notify failed');
        }
        resolve();
      });
    });
  const say = (state: string): Promise<void> => {
    last = last.then(() => send(state));
    return last;
  };
  const timer = watchdogMs(env, pid);
  const beat = timer === undefined ? undefined : setInterval(() => void say('WATCHDOG=1'), timer).unref();
  return { say, end: () => clearInterval(beat) };
}

/** How often it wants to hear: twice in the time after which it would end us (sd_watchdog_enabled(3)). */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  if (!/^[1-9]\d{0,14}$/.test(WATCHDOG_USEC ?? '')) return undefined;
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(pid)) return undefined;
  return Math.min(2 ** 31 - 1, Math.max(1, Number(WATCHDOG_USEC) / 2_000));
}
