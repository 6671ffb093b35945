import { Gateway, type GatewayOptions } from '../app/gateway.ts';
import { Reloads } from '../app/reloads.ts';
import { EventBus } from '../base/events.ts';
import type { Config } from '../config/config.ts';
import type { Around } from '../config/reading/secret-commands.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { isRemotelyReachable } from '../config/values/addresses.ts';
import { sinkLabel } from '../config/values/sink-names.ts';
import { ENGINE_WORDS, sinkWords } from '../config/values/token-places.ts';
import { asksForKey } from '../listen/callers.ts';
import { boundHeapGrowth, sweepBodies } from '../node/heap.ts';
import { LOOSENING_WORDS, looseningOptions } from '../node/loosening.ts';
import { createLog, type Log } from '../observe/log.ts';
import { announce } from './announce.ts';
import { releaseAtRest } from './at-rest.ts';
import { endingInOrder } from './ending-in-order.ts';
import { harden } from './hardening.ts';
import { leaveReapingToShell, runsHelpers } from './init-process.ts';
import { tracesAskedFor } from './traces.ts';

export interface OpenOptions {
  /** Where the configuration comes from, now and at each reload. */
  readonly source: ConfigurationSource;
  /** Where the log goes. */
  readonly fd: 1 | 2;
  /** Makes the configuration in use of what was loaded. */
  readonly adapt?: (loaded: Config) => Config;
  /** Sockets that listen already. */
  readonly sockets?: GatewayOptions['sockets'];
}

/** A gateway with everything around it that a process needs while it runs. */
export interface Opened {
  readonly gateway: Gateway;
  readonly log: Log;
  readonly reloads: Reloads;
  /** The one in use by now. */
  readonly config: () => Config;
  /** Ends what is around the gateway, once that is closed; false where traces are still being sent, and keep the process. */
  readonly end: () => Promise<boolean>;
}

/** Opens the gateway and everything around it; signals are for the caller to see to. */
export async function open({
  source,
  fd,
  adapt = (loaded) => loaded,
  sockets,
}: OpenOptions): Promise<Opened> {
  // Before the first command runs: a shell in our place would have each of them run again.
  const around: Around = (work) => {
    if (source.isRepeatable) leaveReapingToShell();
    return endingInOrder(work);
  };
  let config = adapt(await source.load({ around }));
  if (runsHelpers(config) && source.isRepeatable) leaveReapingToShell();
  const log = await createLog(config.log, fd);
  const events = new EventBus(log.observe);
  keepAlive(events);
  harden(log);
  const traces = await tracesAskedFor(events, log);
  const reloading = Promise.withResolvers<Reloads>();
  const gateway = new Gateway({
    config,
    reload: async () => (await reloading.promise).all('POST /reload'),
    renewSecrets: async (credential) => (await reloading.promise).renewSecrets(credential),
    ...(sockets && { sockets }),
    events,
    tracing: traces,
    droppedLogLines: log.dropped,
    bytesPassed: sweepBodies(),
  });
  events.subscribe(releaseAtRest({ inFlight: () => gateway.inFlight }));
  await gateway.start();
  boundHeapGrowth();
  announce(gateway, config.upstream.origin + config.upstream.basePath, log);
  tellOfDotEnv(config, log);
  warnOfExposure(config, log);
  tellOfPlaces(config, log);

  const apply = (loaded: Config, by: string) => {
    const next = adapt(loaded);
    const restartNeededFor = gateway.reconfigure(next);
    config = next;
    log.setLevel(config.log.level);
    events.tell({ type: 'reloaded', by, restartNeededFor });
    return restartNeededFor;
  };
  const reloads = new Reloads({ config, source, apply, observe: events.tell });
  reloading.resolve(reloads);
  const end = async () => {
    const sent = (await traces?.close()) ?? true;
    await log.close();
    return sent;
  };
  return { gateway, log, reloads, config: () => config, end };
}

/**
 * Nothing that goes wrong with one request may end the process for all. What gets here is a fault of ours or of a
 * library's; it is told with the place where it happened, and the others go on.
 */
function keepAlive(events: EventBus): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (cause: unknown) => events.tell({ type: 'internal-error', where: event, cause }));
  }
}

/** It may be of another environment, or be thought to count. */
function tellOfDotEnv({ dotEnv }: Config, log: Log): void {
  if (dotEnv === 'ignored') log.info({}, '.env is not read, since a configuration file is named');
}

/** What is no longer in memory only. */
function tellOfPlaces({ share, sinks }: Config, log: Log): void {
  if (share !== undefined) log.info({}, ENGINE_WORDS);
  for (const sink of sinks) log.info({ sink: sinkLabel(sink) }, sinkWords(sink));
}

/** What an operator configured, and should be reminded of. */
function warnOfExposure(config: Config, log: Log): void {
  if (config.listen.some(isRemotelyReachable) && !asksForKey(config)) {
    log.warn({}, 'anyone who reaches this port acts as the configured account: no caller key is set');
  }
  if (process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    log.warn({}, 'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: certificates are verified all the same');
  }
  for (const option of looseningOptions()) log.warn({ option }, `${option} ${LOOSENING_WORDS}`);
}
