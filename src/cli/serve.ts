import { Gateway } from '../app/gateway.ts';
import { Reloads } from '../app/reloads.ts';
import { EventBus } from '../base/events.ts';
import type { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { isRemotelyReachable } from '../config/values/addresses.ts';
import { sinkLabel } from '../config/values/sinks.ts';
import { ENGINE_WORDS, sinkWords } from '../config/values/token-places.ts';
import { asksForKey } from '../listen/callers.ts';
import { boundHeapGrowth, releaseStart, sweepBodies } from '../node/heap.ts';
import { LOOSENING_WORDS, looseningOptions } from '../node/loosening.ts';
import { createLog, type Log } from '../observe/log.ts';
import { announce } from './announce.ts';
import { containerNote } from './container.ts';
import { EXIT } from './exit-codes.ts';
import { harden } from './hardening.ts';
import { serviceOf } from './service.ts';
import { stopOnSignal } from './signals.ts';
import { tracesAskedFor } from './traces.ts';

/** By then a login has mostly been made, and no request is late for it. */
const STARTED_MS = 1_000;

export interface ServeOptions {
  /** Where the configuration comes from, now and at each SIGHUP. */
  readonly source: ConfigurationSource;
  /** Where the log goes. */
  readonly fd: 1 | 2;
  /** Runs for one child process (`exec`): with its caller key or none, and signals are the child's. */
  readonly child?: { readonly callerKey: Secret | undefined };
  /** Called once the sockets are open. */
  readonly onListening?: (gateway: Gateway) => void | Promise<void>;
}

export interface Served {
  readonly gateway: Gateway;
  readonly log: Log;
  readonly config: Config;
  /** Drains within the configured time; gives the exit code. */
  readonly stop: (signal: string) => Promise<number>;
  /** Ends what is around the gateway, once that is closed; false where traces are still being sent, and keep the process. */
  readonly end: () => Promise<boolean>;
}

/** Opens the gateway and everything around it that a long-running process needs, but for the signals that end it. */
export async function open({ source, fd, child, onListening }: ServeOptions): Promise<Served> {
  const adapt = (loaded: Config) => (child === undefined ? loaded : forChild(loaded, child.callerKey));
  let config = adapt(await source.load());
  const log = await createLog(config.log, fd);
  const events = new EventBus(log.observe);
  keepAlive(events);
  harden(log);
  const traces = await tracesAskedFor(events, log);
  const asService = await serviceOf(process.env, process.pid);
  const service = child === undefined ? asService : undefined; // A child's proxy has a port of its own.
  const gateway = new Gateway({
    config,
    ...(service && { sockets: service.sockets }),
    events,
    tracing: traces,
    droppedLogLines: log.dropped,
    bytesPassed: sweepBodies(),
  });
  await gateway.start();
  boundHeapGrowth();
  announce(gateway, config.upstream.origin + config.upstream.basePath, log);
  tellOfDotEnv(config, log);
  if (child === undefined) tellOfContainer(config, log);
  warnOfExposure(config, log);
  tellOfPlaces(config, log);
  // One command has no use for so many, and its own words on stderr.
  if (child === undefined) warnOfLimit(config, gateway, log);
  if (child === undefined) {
    // Whoever is at work uses the memory, and would wait.
    const release = () => gateway.inFlight === 0 && releaseStart();
    setTimeout(release, STARTED_MS).unref();
  }

  const apply = (loaded: Config, by: string) => {
    const next = adapt(loaded);
    const restartNeededFor = gateway.reconfigure(next);
    config = next;
    log.setLevel(config.log.level);
    events.tell({ type: 'reloaded', by, restartNeededFor });
  };
  const reloads = new Reloads({ config, source, apply, observe: events.tell });
  if (child === undefined) process.on('SIGHUP', () => reloads.all('SIGHUP'));
  await onListening?.(gateway);
  const notifier = service?.notifier((reason) => log.warn({}, `systemd is told nothing: ${reason}`));
  void notifier?.say('READY=1');

  const end = async () => {
    const sent = (await traces?.close()) ?? true;
    await log.close();
    return sent;
  };
  const stop = async (signal: string) => {
    reloads.stop();
    void notifier?.say('STOPPING=1');
    if (config.shutdownDelayMs > 0) await gateway.announceStop(config.shutdownDelayMs, signal);
    const cut = await gateway.drain(config.drainTimeoutMs, signal);
    notifier?.end();
    await end();
    return cut === 0 ? EXIT.done : EXIT.failed;
  };
  return { gateway, log, config, stop, end };
}

/**
 * A child process knows no key but the one of its own run, which is then asked of everybody. Without such a key only it
 * is told the port, unless a flag opens that to others. Sinks are for those around a service: its proxy keeps them, and
 * this one, by the same file, would empty them when its command ends.
 */
function forChild(config: Config, key: Secret | undefined): Config {
  const alone: Config = { ...config, sinks: [] };
  const { callerKey: _, ...rest } = alone;
  if (key !== undefined) return { ...rest, callerKey: key, callers: [] };
  return config.listen.some(isRemotelyReachable) ? alone : { ...rest, callers: [] };
}

/** Runs until a signal, then drains; a second one ends it at once. */
export async function serve(options: ServeOptions): Promise<number> {
  const { stop, log } = await open(options);
  return new Promise<number>(() => stopOnSignal(stop, () => log.abandon()));
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

function warnOfLimit({ limits }: Config, { maxConnections }: Gateway, log: Log): void {
  if (maxConnections >= limits.connections) return;
  const fields = { maxConnections, configured: limits.connections };
  log.warn(
    fields,
    `client connections are limited to ${maxConnections}: the process may not open more files`,
  );
}

/** It may be of another environment, or be thought to count. */
function tellOfDotEnv({ dotEnv }: Config, log: Log): void {
  if (dotEnv === 'ignored') log.info({}, '.env is not read, since a configuration file is named');
}

function tellOfContainer(config: Config, log: Log): void {
  const note = containerNote(config);
  if (note !== undefined) log.info({}, note);
}

/** What is no longer in memory only. */
function tellOfPlaces({ share, sinks }: Config, log: Log): void {
  if (share !== undefined) log.info({}, ENGINE_WORDS);
  for (const sink of sinks) log.info({ sink: sinkLabel(sink) }, sinkWords(sink));
}

/** What an operator asked for, and should see that he asked for. */
function warnOfExposure(config: Config, log: Log): void {
  if (config.listen.some(isRemotelyReachable) && !asksForKey(config)) {
    log.warn({}, 'anyone who reaches this port acts as the configured account: no caller key is set');
  }
  if (process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    log.warn({}, 'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: certificates are verified all the same');
  }
  for (const option of looseningOptions()) log.warn({ option }, `${option} ${LOOSENING_WORDS}`);
}
