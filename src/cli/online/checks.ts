import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import type { OneRequest } from '../one-request.ts';
import { type Finding, SERVER_CHECKS, skipped } from './check-result.ts';
import { loginChecks } from './login-check.ts';
import { requestCheck } from './request-check.ts';
import { secretFilesCheck } from './secret-files.ts';
import { serverChecks } from './server-checks.ts';
import { visitServers } from './servers.ts';
import { shareCheck } from './share-check.ts';

/** All that can be seen only by trying, in the order of the checks, whatever the number of servers and credentials. */
export async function onlineChecks(config: Config, request: OneRequest | undefined): Promise<Finding[]> {
  const [files, visited, logins, share] = await Promise.all([
    secretFilesCheck(config),
    visitServers(config),
    loginChecks(config),
    shareCheck(config),
  ]);
  const ofServers = visited.flatMap((each) => serverChecks(each, systemClock.wallMs()));
  const inOrder = SERVER_CHECKS.flatMap((name) => ofServers.filter((finding) => finding.name === name));
  const sent = request === undefined ? [] : [await tryRequest(config, request, logins)];
  return [files, ...inOrder, ...logins, ...share, ...sent];
}

/** After a failed login the proxy would log in once more, and some accounts are locked after a few of those. */
async function tryRequest(
  config: Config,
  { method, target }: OneRequest,
  logins: readonly Finding[],
): Promise<Finding> {
  if (logins.some(({ ok }) => ok === false)) {
    return skipped(['request', `${method} ${target}`], 'not tried, since a login failed');
  }
  return requestCheck(config, method, target);
}
