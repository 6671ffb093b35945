import { rm } from 'node:fs/promises';
import { Secret } from '../../base/secret.ts';
import type { EnvoySdsSinkConfig, FileSinkConfig } from '../../config/sections/sink-config.ts';
import type { PresentOf, Sink } from '../sink.ts';
import { NO_FILE, replaceFile, traceOf } from './private-file.ts';

/** A file that another program removed or overwrote is written again after this time at most. */
const CHECK_MS = 2_000;

/**
 * A file with one credential. After it was written, its content is known as long as its trace is the same; before, the
 * file may hold anything.
 */
class CredentialFile implements Sink {
  readonly checkMs = CHECK_MS;
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

  async update(present: PresentOf): Promise<boolean> {
    const secret = this.#pick(present);
    if (this.#written !== undefined && Secret.same(this.#written.secret, secret)) {
      if (this.#written.trace === (await traceOf(this.#path))) return false;
    }
    // If this fails half-way, the content is unknown.
    this.#written = undefined;
    const content = this.#content(secret);
    if (content === undefined) await rm(this.#path, { force: true });
    const trace = content === undefined ? NO_FILE : await replaceFile(this.#path, content);
    this.#written = { secret, trace };
    return true;
  }
}

/** A file with the token alone. While there is no token, there is no file. */
export function createFileSink({ path, credential }: FileSinkConfig): Sink {
  return new CredentialFile(
    path,
    (present) => present(credential)?.value,
    (token) => (token === undefined ? undefined : Buffer.from(token.expose(), 'utf8')),
  );
}

/**
 * A secret for Envoy (`path_config_source`). It holds the whole header value, which the credential injector of every
 * version can use. Envoy does not start without the file, so the file has an empty value while there is no token.
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

/** A `DiscoveryResponse` with one `Secret` message, in protobuf's JSON form, which is also YAML. */
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
