import type { Status } from '../observe/status.ts';
import type { ConfigObject } from './config-object.ts';
import { type LibraryOptions, openHosted } from './hosted.ts';

/** A proxy that runs in this process. */
export interface Bearerd {
  /** Where it listens. */
  readonly urls: readonly string[];
  readonly adminUrls: readonly string[];
  /** Resolves once every credential in use has a token; rejected by `close`. */
  ready(): Promise<void>;
  /** What `/status` of the admin listener says. */
  status(): Status;
  /** Takes no more requests, finishes those under way within `drainTimeout`, and ends. */
  close(): Promise<void>;
}

/**
 * Opens a proxy as a part of this program. Resolves once it listens, whether or not there is a token yet.
 *
 * @param config what a configuration file would hold
 * @throws ConfigError with every fault that there is
 * @throws ListenError when it can't listen at an address
 */
export async function createBearerd(config: ConfigObject, options: LibraryOptions = {}): Promise<Bearerd> {
  const { gateway, readiness, close } = await openHosted(config, options);
  return {
    urls: gateway.urls,
    adminUrls: gateway.adminUrls,
    ready: () => readiness.wait(),
    status: () => gateway.status,
    close,
  };
}
