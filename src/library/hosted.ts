import type { Gateway } from '../app/gateway.ts';
import { createReloadable } from '../app/reloadable.ts';
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
  const loaded = adapt(await source.load());
  const output = await logOutputOf(log, loaded);
  const events = new EventBus(output.observe);
  const reloadable = createReloadable({
    source,
    config: loaded,
    adapt,
    reloadsOnRequest: false,
    events,
    droppedLogLines: output.dropped,
  });
  const { gateway } = reloadable;
  warnOfLoosening(events.emit);
  const readiness = new Readiness(() => gateway.readiness.ready);
  events.subscribe(readiness.look);
  await gateway.start();
  const reloads = reloadable.begin();
  const end = async () => {
    reloads.stop();
    readiness.end();
    await gateway.drain(reloadable.config().drainTimeoutMs, 'close');
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
