import { Gateway } from '../app/gateway.ts';
import { Reloads } from '../app/reloads.ts';
import { EventBus, type Observe } from '../base/events.ts';
import type { Config } from '../config/config.ts';
import { ConfigurationSource } from '../config/source.ts';
import { LOOSENING_WORDS, looseningOptions } from '../node/loosening.ts';
import { type HostLog, observerFor } from '../observe/host-log.ts';
import type { ConfigObject } from './config-object.ts';
import { Readiness } from './readiness.ts';

export interface LibraryOptions {
  /** Variables: for `{ env: NAME }`, `BEARERD_` variables, and outbound proxies. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `true` logs to stderr; or the program's own logger. Default: no log. */
  readonly log?: boolean | HostLog;
}

/** A gateway in a host program. It leaves signals, exceptions and stdout to the host. */
interface Hosted {
  readonly gateway: Gateway;
  readonly readiness: Readiness;
  /** Finishes the requests under way, within `drainTimeout`. */
  close(): Promise<void>;
}

interface HostedOptions extends LibraryOptions {
  /** Defaults by variable, in place of the usual ones. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Changes each loaded configuration, at the start and at reloads. */
  readonly adapt?: (config: Config) => Config;
}

interface LogOutput {
  readonly observe: Observe;
  readonly dropped: () => number;
  close(): Promise<void>;
}

export async function openHosted(content: ConfigObject, options: HostedOptions): Promise<Hosted> {
  const { env = {}, log = false, defaults = {}, adapt = (config) => config } = options;
  const source = new ConfigurationSource(env, { content: content ?? null, defaults });
  let config = adapt(await source.load());
  const output = await logOutputOf(log, config);
  const events = new EventBus(output.observe);
  const reloading = Promise.withResolvers<Reloads>();
  const gateway = new Gateway({
    config,
    events,
    renewSecrets: async (credential) => (await reloading.promise).renewSecrets(credential),
    droppedLogLines: output.dropped,
  });
  warnOfLoosening(events.emit);
  const readiness = new Readiness(() => gateway.readiness.ready);
  events.subscribe(readiness.look);
  await gateway.start();
  const apply = (loaded: Config, by: string) => {
    config = adapt(loaded);
    const restartNeededFor = gateway.reconfigure(config);
    events.emit({ type: 'reloaded', by, restartNeededFor });
    return restartNeededFor;
  };
  const reloads = new Reloads({ config, source, apply, observe: events.emit });
  reloading.resolve(reloads);
  const end = async () => {
    reloads.stop();
    readiness.end();
    await gateway.drain(config.drainTimeoutMs, 'close');
    await output.close();
  };
  let ended: Promise<void> | undefined;
  return {
    gateway,
    readiness,
    close: () => {
      ended ??= end();
      return ended;
    },
  };
}

/** Warns of options of the host's process that have no effect on bearerd. */
export function warnOfLoosening(tell: Observe): void {
  for (const key of looseningOptions()) tell({ type: 'doubtful-setting', key, problem: LOOSENING_WORDS });
}

/** The log of the events. Never stdout, which belongs to the host. */
export async function logOutputOf(log: boolean | HostLog, config: Config): Promise<LogOutput> {
  const silent = { dropped: () => 0, close: async () => {} };
  if (log === false) return { ...silent, observe: () => {} };
  if (log !== true) return { ...silent, observe: observerFor(log) };
  const { createLog } = await import('../observe/log.ts');
  return createLog(config.log, 2);
}
