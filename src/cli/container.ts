import { exists } from '../base/exists.ts';
import type { Config } from '../config/config.ts';
import { isRemotelyReachable } from '../config/values/addresses.ts';

/** What Docker and Podman put into each container. */
const MARKS = ['/.dockerenv', '/run/.containerenv'];

/**
 * What to tell a user whose published port reaches nothing: the loopback of a container is reached only from inside it.
 * The containers of a pod share one, so that nothing is said there.
 */
export function containerNote(
  { listen }: Pick<Config, 'listen'>,
  env: NodeJS.ProcessEnv = process.env,
  isThere = exists,
): string | undefined {
  const onLoopback = listen.some(({ kind }) => kind === 'tcp') && !listen.some(isRemotelyReachable);
  const alone = env.KUBERNETES_SERVICE_HOST === undefined && MARKS.some(isThere);
  return onLoopback && alone ? NOTE : undefined;
}

const NOTE =
  "this container's loopback is reached only from inside it; for a published port (-p 127.0.0.1:9180:9180) set " +
  'BEARERD_LISTEN=0.0.0.0:9180 and BEARERD_CALLER_KEY';
