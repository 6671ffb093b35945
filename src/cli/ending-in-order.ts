import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Does something during which a command that is to print a token, or a secret, may run. */
export async function endingInOrder<T>(work: () => Promise<T>): Promise<T> {
  for (const signal of SIGNALS) process.on(signal, exit);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, exit);
  }
}

/** An exit in order takes such a command with it; the signal's own end would leave it behind. */
function exit(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal]);
}
