import type { Log } from '../observe/log.ts';

/** Options of Node that write memory to the disk, or let somebody look into it. */
const REVEALING = /--(?:inspect|heapsnapshot-|heap-prof|report-(?:on|uncaught)|abort-on-uncaught)[^\s="']*/g;

/**
 * What of the process itself could show secrets to others. SIGUSR1 would open Node's debugger on a port that every
 * user of the machine can reach; a diagnostic report would hold the environment.
 */
export function harden(log: Log): void {
  process.on('SIGUSR1', () => log.info({}, 'SIGUSR1 is ignored: no debugger is opened'));
  process.report.excludeEnv = true;
  const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').match(REVEALING) ?? [];
  if (options.length > 0) {
    log.warn(
      { options },
      'an option of Node is on that can show secrets: leave it off where others may look',
    );
  }
}
