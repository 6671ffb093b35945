import { execFile } from 'node:child_process';
import type { Environment } from '../../base/environment.ts';

/** The limit for one message: systemd may be busy, or not run. */
const MESSAGE_MS = 5_000;

export interface Notifier {
  /** Resolves when the message is sent, or has failed. Messages are sent one after the other. */
  say(state: 'READY=1' | 'STOPPING=1'): Promise<void>;
  /** Sends no more watchdog messages. */
  end(): void;
}

/**
 * Notifies systemd (sd_notify(3)) by the program systemd-notify: NOTIFY_SOCKET is a Unix datagram socket, which Node
 * does not have, and a native addon would be too much for three messages. The program gets only NOTIFY_SOCKET and PATH.
 *
 * @param failed called once, when a message could not be sent
 */
export function notifierFor(
  env: Environment,
  pid: number,
  failed: (reason: string) => void,
): Notifier | undefined {
  const { NOTIFY_SOCKET, PATH } = env;
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return undefined;
  let last = Promise.resolve();
  let waiting = 0;
  let hasFailed = false;
  const send = (state: string): Promise<void> =>
    new Promise((resolve) => {
      const options = { env: { NOTIFY_SOCKET, ...(PATH && { PATH }) }, timeout: MESSAGE_MS };
      execFile('systemd-notify', [state], options, (error) => {
        if (error !== null && !hasFailed) {
          hasFailed = true;
          failed(error.code === 'ENOENT' ? 'systemd-notify does not exist' : 'systemd-notify failed');
        }
        resolve();
      });
    });
  const say = (state: string): Promise<void> => {
    waiting++;
    last = last.then(() => send(state)).then(() => void waiting--);
    return last;
  };
  const timer = watchdogMs(env, pid);
  // On a busy machine a message may take longer than the interval. Queued signs of life would hold up STOPPING=1.
  const signOfLife = () => waiting === 0 && void say('WATCHDOG=1');
  const beat = timer === undefined ? undefined : setInterval(signOfLife, timer).unref();
  return { say, end: () => clearInterval(beat) };
}

/** The interval of watchdog messages: half of systemd's limit (sd_watchdog_enabled(3)). */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  if (!/^[1-9]\d{0,14}$/.test(WATCHDOG_USEC ?? '')) return undefined;
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(pid)) return undefined;
  return Math.min(2 ** 31 - 1, Math.max(1, Number(WATCHDOG_USEC) / 2_000));
}
