import type { Status } from '../observe/status.ts';
import type { ConfigObject } from './config-object.ts';
import { type LibraryOptions, openHosted } from './hosted.ts';

/** A proxy that runs in this process. */
export interface Bearerd {
  /** The URLs of the proxy. */
  readonly urls: readonly string[];
  readonly adminUrls: readonly string[];
  /** Resolves once every credential in use has a token; rejected by `close`. */
  ready(): Promise<void>;
  /** The content of `/status` of the admin listener. */
  status(): Status;
  /** Refuses new requests, finishes those under way within `drainTimeout`, and ends. */
  close(): Promise<void>;
}

/**
 * Opens a proxy in this program. Resolves once it listens, whether or not there is a token yet.
 *
 * @param config the content of a configuration file
 * @throws ConfigError with every fault
 * @throws ListenError if an address can't be listened on
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
