import { constants } from 'node:os';
import { type LoginCredentialConfig, loginFor } from '../app/logins.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import type { IssuedToken } from '../login/issued-token.ts';
import { UpstreamPools } from '../upstream/pools.ts';
import { REVEALING_WORDS, revealingOptions } from './hardening.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * One login, outside a running proxy.
 *
 * @throws LoginError
 */
export async function logIn(config: Config, credential: LoginCredentialConfig): Promise<IssuedToken> {
  warnOfRevealingOptions();
  const pools = new UpstreamPools(config);
  try {
    return await endingInOrder(() =>
      loginFor(credential, config, pools, systemClock)(new AbortController().signal),
    );
  } finally {
    pools.destroy();
  }
}

/** Does something during which a command that is to print a token may run. */
export async function endingInOrder<T>(work: () => Promise<T>): Promise<T> {
  for (const signal of SIGNALS) process.on(signal, exit);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, exit);
  }
}

function warnOfRevealingOptions(): void {
  const revealing = revealingOptions();
  if (revealing.length > 0) process.stderr.write(`bearerd: ${REVEALING_WORDS} (${revealing.join(', ')})\n`);
}

/** An exit in order takes a command that is to print a token with it; the signal's own end would leave it behind. */
function exit(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal]);
}
