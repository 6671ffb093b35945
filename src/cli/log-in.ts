import { systemClock } from '../clock.ts';
import type { Config, SessionCredentialConfig } from '../config/config.ts';
import { createLogin } from '../credentials/session-endpoint.ts';
import type { IssuedToken } from '../credentials/session-response.ts';
import { UpstreamPools } from '../forward/upstream-pool.ts';

/**
 * One login, outside a running proxy.
 *
 * @throws LoginError
 */
export async function logIn(config: Config, credential: SessionCredentialConfig): Promise<IssuedToken> {
  const pools = new UpstreamPools(config);
  try {
    const { origin, basePath } = config.upstream;
    const { dispatcher } = pools.get(origin, config.timeouts.connectMs);
    const endpoint = { origin, path: basePath + config.sessionPath, dispatcher };
    return await createLogin(endpoint, credential.grant, systemClock)(new AbortController().signal);
  } finally {
    pools.destroy();
  }
}
