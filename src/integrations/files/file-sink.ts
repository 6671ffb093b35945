import { rm } from 'node:fs/promises';
import type { Secret } from '../../base/secret.ts';
import type { EnvoySdsSinkConfig, FileSinkConfig } from '../../config/config.ts';
import type { PresentOf, Sink } from '../sink.ts';
import { NO_FILE, replaceFile, traceOf } from './private-file.ts';

/** A file that was removed or overwritten is written again within this time. */
const LOOK_MS = 2_000;

/**
 * A file with one credential in it. What it holds is known from our own writing, as long as the file bears the same trace;
 * at first it may be anything.
 */
class CredentialFile implements Sink {
  readonly lookMs = LOOK_MS;
  readonly #path: string;
  readonly #pick: (present: PresentOf) => Secret | undefined;
  readonly #content: (secret: Secret | undefined) => Buffer | undefined;
  #written: { readonly secret: Secret | undefined; readonly trace: string } | undefined;

  constructor(
    path: string,
    pick: (present: PresentOf) => Secret | undefined,
    content: (secret: Secret | undefined) => Buffer | undefined,
  ) {
    this.#path = path;
    this.#pick = pick;
    this.#content = content;
  }

  async settle(present: PresentOf): Promise<boolean> {
    const secret = this.#pick(present);
    if (this.#written !== undefined && same(this.#written.secret, secret)) {
      if (this.#written.trace === (await traceOf(this.#path))) return false;
    }
    // After a failure half-way, the content is unknown.
    this.#written = undefined;
    const content = this.#content(secret);
    if (content === undefined) await rm(this.#path, { force: true });
    const trace = content === undefined ? NO_FILE : await replaceFile(this.#path, content);
    this.#written = { secret, trace };
    return true;
  }
}

/** The token alone; no file while there is none. */
export function createFileSink({ path, credential }: FileSinkConfig): Sink {
  return new CredentialFile(
    path,
    (present) => present(credential)?.value,
    (token) => (token === undefined ? undefined : Buffer.from(token.expose(), 'utf8')),
  );
}

/**
 * What Envoy reads as a secret (`path_config_source`): the whole header, so that it fits every version's injector.
 * Envoy doesn't start without the file: while there is no token, the value in it is empty.
 */
export function createEnvoySdsSink({ path, name, credential }: EnvoySdsSinkConfig): Sink {
  return new CredentialFile(
    path,
    (present) => present(credential)?.headerValue,
    (header) => {
      const value = header === undefined ? '' : Buffer.from(header.expose(), 'latin1').toString('utf8');
      return Buffer.from(`${JSON.stringify(discoveryResponse(name, value), undefined, 2)}\n`, 'utf8');
    },
  );
}

/** A `DiscoveryResponse` with one `Secret` message, in the JSON form of protobuf, which is YAML too. */
function discoveryResponse(name: string, value: string): object {
  return {
    resources: [
      {
        '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
        name,
        generic_secret: { secret: { inline_string: value } },
      },
    ],
  };
}

function same(a: Secret | undefined, b: Secret | undefined): boolean {
  return a === undefined ? b === undefined : a.equals(b);
}
