import type { Gateway, GatewayOptions } from '../app/gateway.ts';
import { createReloadable } from '../app/reloadable.ts';
import type { Reloads } from '../app/reloads.ts';
import { EventBus } from '../base/events.ts';
import type { Config } from '../config/config.ts';
import { SETTINGS } from '../config/declaration/settings.ts';
import type { Around } from '../config/reading/secret-commands.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { boundMemory, sweepBodies } from '../node/heap.ts';
import { createLog, type Log } from '../observe/log.ts';
import { announce } from './announce.ts';
import { releaseAtRest } from './at-rest.ts';
import { harden } from './hardening.ts';
import { leaveReapingToShell, runsHelpers } from './process-one.ts';
import { endingInOrder } from './signals.ts';
import { tracesAskedFor } from './traces.ts';

interface OpenOptions {
  /** Where the configuration comes from, now and at each reload. */
  readonly source: ConfigurationSource;
  /** Where the log goes. */
  readonly fd: 1 | 2;
  /** Makes the configuration in use of what was loaded. */
  readonly adapt?: (config: Config) => Config;
  /** Sockets that listen already. */
  readonly sockets?: GatewayOptions['sockets'];
}

/** A gateway with everything around it that a process needs while it runs. */
interface Opened {
  readonly gateway: Gateway;
  readonly log: Log;
  readonly reloads: Reloads;
  /** The one in use by now. */
  readonly config: () => Config;
  /** Ends what is around the gateway, once that is closed; false if traces are still being sent, and keep the process. */
  readonly end: () => Promise<boolean>;
}

/** Opens the gateway and everything around it; signals are for the caller to see to. */
export async function open({
  source,
  fd,
  adapt = (config) => config,
  sockets,
}: OpenOptions): Promise<Opened> {
  // Before the first command runs: a shell in our place would have each of them run again.
  const around: Around = (work) => {
    if (source.isRepeatable) leaveReapingToShell();
    return endingInOrder(work);
  };
  const loaded = adapt(await source.load({ around }));
  if (runsHelpers(loaded) && source.isRepeatable) leaveReapingToShell();
  const log = await createLog(loaded.log, fd);
  const events = new EventBus(log.observe);
  keepAlive(events);
  harden(log);
  const traces = await tracesAskedFor(events, log);
  const reloadable = createReloadable({
    source,
    config: loaded,
    adapt,
    onApplied: ({ log: { level } }) => log.setLevel(level),
    reloadsOnRequest: true,
    ...(sockets && { sockets }),
    events,
    tracing: traces,
    droppedLogLines: log.dropped,
    logLoss: log.loss,
    bytesPassed: sweepBodies(),
  });
  const { gateway, config } = reloadable;
  events.subscribe(releaseAtRest({ inFlight: () => gateway.inFlight }));
  await gateway.start();
  boundMemory();
  announce(gateway, loaded, log);
  const why = whyCommand(gateway.adminUrls);
  if (why !== undefined) log.nameWhy(why);
  const reloads = reloadable.begin();
  const end = async () => {
    const sent = (await traces?.close()) ?? true;
    await log.close();
    return sent;
  };
  return { gateway, log, reloads, config, end };
}

/** What a person can type to be told why a request failed; undefined without an admin listener. */
function whyCommand([admin]: readonly string[]): string | undefined {
  if (admin === undefined) return undefined;
  const at = admin.replace(/^https?:\/\//, '');
  return at === SETTINGS.adminListen.default ? 'bearerd why' : `bearerd why --admin-listen ${at}`;
}

/**
 * Nothing that goes wrong with one request may end the process for all. What gets here is a fault of ours or of a
 * library's; it is told with the place where it happened, and the others go on.
 */
function keepAlive(events: EventBus): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (cause: unknown) => events.emit({ type: 'internal-error', where: event, cause }));
  }
}
