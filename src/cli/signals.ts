import { constants } from 'node:os';
import { exit, leave } from '../node/exit.ts';

/**
 * One event may bring a signal more than once: a terminal and `timeout` send it to the whole group, and a parent such as
 * npm, which got it too, sends it on.
 */
export const ONE_EVENT_MS = 250;

/** The last one is Ctrl-Break of Windows. */
const ENDING = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGBREAK'] as const;

/** Stops at the first signal, with the exit code that the stop gives; a second one, of another event, ends the process. */
export function stopOnSignal(stop: (signal: string) => Promise<number>, abandon = () => {}): void {
  let firstMs: number | undefined;
  const signalled = (signal: string) => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      stop(signal).then(leave, () => leave(1));
    } else if (performance.now() - firstMs >= ONE_EVENT_MS) {
      abandon();
      exit(1);
    }
  };
  for (const signal of ENDING) process.on(signal, signalled);
}

const INTERRUPTING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Does work that may run a command for a token or a secret: a signal ends that command, too. */
export async function endingInOrder<T>(work: () => Promise<T>): Promise<T> {
  for (const signal of INTERRUPTING) process.on(signal, exitBySignal);
  try {
    return await work();
  } finally {
    for (const signal of INTERRUPTING) process.off(signal, exitBySignal);
  }
}

/** `exit` ends such a command; the signal's default action would leave it running. */
function exitBySignal(signal: NodeJS.Signals): never {
  exit(128 + constants.signals[signal]);
}
