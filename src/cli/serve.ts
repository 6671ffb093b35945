import type { Gateway } from '../app/gateway.ts';
import type { Config } from '../config/config.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { releaseMemory } from '../node/heap.ts';
import type { Log } from '../observe/log.ts';
import { containerNote } from './container.ts';
import { EXIT } from './exit-codes.ts';
import { open } from './open.ts';
import { stopOnSignal } from './signals.ts';
import { serviceOf } from './systemd.ts';

/** The first login has mostly ended by then, so no request waits while memory is released. */
const STARTED_MS = 1_000;

interface ServeOptions {
  /** Where the configuration comes from, now and at each SIGHUP. */
  readonly source: ConfigurationSource;
  /** Called once the sockets are open. */
  readonly onListening?: (gateway: Gateway) => void | Promise<void>;
}

/** Runs until a signal, then drains; a second one ends it at once. SIGHUP reloads. */
export async function serve({ source, onListening }: ServeOptions): Promise<number> {
  const service = await serviceOf(process.env, process.pid);
  const { gateway, log, reloads, config, end } = await open({
    source,
    fd: 1,
    ...(service && { sockets: service.sockets }),
  });
  tellOfContainer(config(), log);
  warnOfLimit(config(), gateway, log);
  // A process at work needs its memory, and its requests would wait for this.
  const release = () => gateway.inFlight === 0 && releaseMemory();
  setTimeout(release, STARTED_MS).unref();
  process.on('SIGHUP', () => void reloads.all('SIGHUP'));
  await onListening?.(gateway);
  const notifier = service?.notifier((reason) => log.warn({}, `systemd is told nothing: ${reason}`));
  void notifier?.say('READY=1');

  const stop = async (signal: string) => {
    reloads.stop();
    const told = notifier?.say('STOPPING=1');
    const { shutdownDelayMs, drainTimeoutMs } = config();
    if (shutdownDelayMs > 0) await gateway.announceStop(shutdownDelayMs, signal);
    const cut = await gateway.drain(drainTimeoutMs, signal);
    notifier?.end();
    await told;
    await end();
    return cut === 0 ? EXIT.done : EXIT.failed;
  };
  return new Promise<number>(() => stopOnSignal(stop, () => log.abandon()));
}

function warnOfLimit({ limits }: Config, { maxConnections }: Gateway, log: Log): void {
  if (maxConnections >= limits.connections) return;
  const fields = { maxConnections, configured: limits.connections };
  log.warn(
    fields,
    `client connections are limited to ${maxConnections}: raise the limit of open files (ulimit -n), or set limits.connections to ${maxConnections}`,
  );
}

function tellOfContainer(config: Config, log: Log): void {
  const note = containerNote(config);
  if (note !== undefined) log.info({}, note);
}
