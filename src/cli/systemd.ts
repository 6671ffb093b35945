import type { Notifier } from '../integrations/systemd/notifier.ts';
import type { PassedSockets } from '../integrations/systemd/passed.ts';

/** The variables by which systemd speaks to the process that it starts; its children must not see them. */
export const SERVICE_VARIABLES: readonly string[] = [
  'LISTEN_FDS',
  'LISTEN_PID',
  'LISTEN_FDNAMES',
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
];

/** How this process was started as a service. */
interface Service {
  readonly sockets: PassedSockets;
  readonly notifier: (failed: (reason: string) => void) => Notifier | undefined;
}

/**
 * Takes systemd's variables out of the environment; undefined if there are none.
 *
 * @throws ListenError if a passed socket has an unknown name
 */
export async function serviceOf(env: NodeJS.ProcessEnv, pid: number): Promise<Service | undefined> {
  if (env.LISTEN_FDS === undefined && env.NOTIFY_SOCKET === undefined) return undefined;
  const said = { ...env };
  for (const name of SERVICE_VARIABLES) delete env[name];
  const [{ passedSockets }, { notifierFor }] = await Promise.all([
    import('../integrations/systemd/passed.ts'),
    import('../integrations/systemd/notifier.ts'),
  ]);
  return { sockets: passedSockets(said, pid), notifier: (failed) => notifierFor(said, pid, failed) };
}
