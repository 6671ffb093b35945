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
  /** Variables: those that `{ env: NAME }` names, `BEARERD_` ones, and outbound proxies. None unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `true` for lines on stderr, or a logger of the program's own. */
  readonly log?: boolean | HostLog;
}

/** A gateway in another program, which keeps its own signals, exceptions and stdout. */
export interface Hosted {
  readonly gateway: Gateway;
  readonly readiness: Readiness;
  /** Finishes the requests under way, within `drainTimeout`. */
  close(): Promise<void>;
}

export interface HostedOptions extends LibraryOptions {
  /** By variable, in place of the usual defaults. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** What is made of each configuration that is read, now and when a secret's file changes. */
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
  const told = await listenerOf(log, config);
  const events = new EventBus(told.observe);
  let reloads: Reloads | undefined;
  const renewSecrets = (credential: string) => reloads?.renewSecrets(credential) ?? Promise.resolve();
  const gateway = new Gateway({ config, events, renewSecrets, droppedLogLines: told.dropped });
  tellOfLoosening(events.emit);
  const readiness = new Readiness(() => gateway.readiness.ready);
  events.subscribe(readiness.look);
  await gateway.start();
  const apply = (loaded: Config, by: string) => {
    config = adapt(loaded);
    const restartNeededFor = gateway.reconfigure(config);
    events.emit({ type: 'reloaded', by, restartNeededFor });
    return restartNeededFor;
  };
  reloads = new Reloads({ config, source, apply, observe: events.emit });
  const end = async () => {
    reloads?.stop();
    readiness.end();
    await gateway.drain(config.drainTimeoutMs, 'close');
    await told.close();
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

/** Says which options of the host's process have no effect here, though its author may expect it. */
export function tellOfLoosening(tell: Observe): void {
  for (const key of looseningOptions()) tell({ type: 'doubtful-setting', key, problem: LOOSENING_WORDS });
}

/** Where events are logged. Never on stdout, which belongs to the host. */
export async function listenerOf(log: boolean | HostLog, config: Config): Promise<LogOutput> {
  const silent = { dropped: () => 0, close: async () => {} };
  if (log === false) return { ...silent, observe: () => {} };
  if (log !== true) return { ...silent, observe: observerFor(log) };
  const { createLog } = await import('../observe/log.ts');
  return createLog(config.log, 2);
}
