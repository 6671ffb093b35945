import type { Log } from '../observe/log.ts';

/** Options of Node that write memory or the keys of connections to the disk, or open them to other processes. */
const REVEALING =
  /--(?:inspect|tls-keylog|trace-tls|heapsnapshot-|heap-prof|report-(?:on|uncaught)|abort-on-uncaught)[^\s="']*/g;

/** With these Node and its libraries print what they do: heads, queries and bodies. */
const REVEALING_VARIABLES = ['NODE_DEBUG', 'NODE_DEBUG_NATIVE'];

/**
 * Closes ways by which the process could show secrets. SIGUSR1 would open Node's debugger on a port that every user of the
 * machine can reach; a diagnostic report would hold the environment.
 */
export function harden(log: Log): void {
  process.on('SIGUSR1', () => log.info({}, 'SIGUSR1 is ignored: no debugger is opened'));
  process.report.excludeEnv = true;
  const options = revealingOptions();
  if (options.length > 0) log.warn({ options }, REVEALING_WORDS);
}

export const REVEALING_WORDS =
  'an option of Node is on that can show secrets: leave it off where others may look';

/** The names of those that are on. */
export function revealingOptions(): readonly string[] {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').match(REVEALING) ?? [];
  return [...given, ...REVEALING_VARIABLES.filter((name) => process.env[name])];
}
