import { type LoginCredentialConfig, loginFor } from '../app/logins.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import type { IssuedToken } from '../login/issued-token.ts';
import { UpstreamPools } from '../upstream/pools.ts';
import { complain } from './command.ts';
import { REVEALING_WORDS, revealingOptions } from './hardening.ts';
import { endingInOrder } from './signals.ts';

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

function warnOfRevealingOptions(): void {
  const revealing = revealingOptions();
  if (revealing.length > 0) complain(`${REVEALING_WORDS} (${revealing.join(', ')})`);
}
