import { isIP, type Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { onAbort } from './on-abort.ts';
import { connectObserved } from './orderly-end.ts';

const OPTIONS = {
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would change the default.
  rejectUnauthorized: true,
  highWaterMark: 16 * 1024, // One TLS record.
};

/** Starts TLS with one server, and resumes the session of the last connection to it. */
export class TlsClient {
  readonly #name: string;
  readonly #secureContext: SecureContext;
  readonly #protocols: string[];
  #session: Buffer | undefined;

  /** @param protocols to offer, by ALPN */
  constructor(hostname: string, secureContext: SecureContext, protocols: string[]) {
    // RFC 6066 §3: a server name has no final dot. Certificates have none, either.
    this.#name = hostname.replace(/\.$/, '');
    this.#secureContext = secureContext;
    this.#protocols = protocols;
  }

  /** @param socket a connection to the server, or a tunnel; destroyed if TLS fails */
  start(socket: Socket, signal: AbortSignal): Promise<TLSSocket> {
    const secure = connectObserved(socket, {
      ...OPTIONS,
      host: this.#name,
      ...(isIP(this.#name) === 0 && { servername: this.#name }),
      ALPNProtocols: this.#protocols,
      secureContext: this.#secureContext,
      ...(this.#session !== undefined && { session: this.#session }),
    });
    return new Promise((resolve, reject) => {
      const fail = (reason: unknown) => {
        secure.destroy();
        socket.destroy();
        reject(reason);
      };
      onAbort(signal, fail);
      secure
        .on('error', fail)
        // A resumed session skips the check of the name, so only a session of a verified server is kept.
        .on('session', (session: Buffer) => {
          if (secure.authorized) this.#session = session;
        })
        .once('secureConnect', () => {
          secure.off('error', fail).on('error', () => {});
          resolve(secure);
        });
    });
  }
}
