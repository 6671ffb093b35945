import type { Socket } from 'node:net';
import { UPGRADE } from '../base/fields.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import type { RequestBody } from './client/request-body.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { replyHead } from './headers/response-headers.ts';
import type { Scrubbing } from './scrub/scrubbing.ts';
import { Tunnel } from './tunnel.ts';

/** What a client may send before the upstream has answered; more waits in the kernel. */
const EARLY_LIMIT_BYTES = 64 * 1024;

/** An upstream that has switched. */
export interface Switched {
  readonly head: ResponseHead;
  readonly socket: Socket;
  readonly early: Buffer;
  readonly token: AccessToken | undefined;
  readonly scrubbing: Scrubbing | undefined;
}

/** A client's request for a tunnel. */
export interface Asking {
  readonly protocol: string;
  readonly client: Socket;
  /** Calls back once the request is whole, with the bytes that came after it: from then on the connection is ours. */
  readonly whenFree: (take: (early: Buffer) => void) => void;
}

/** The client's side of a request that wants to become a tunnel. */
export class Upgrade {
  readonly protocol: string;
  readonly #client: Socket;
  readonly #whenFree: Asking['whenFree'];
  readonly #endsWithToken: boolean;
  readonly #early: Buffer[] = [];
  #earlyBytes = 0;

  /** @param endsWithToken the tunnel closes when the token that opened it expires */
  constructor({ protocol, client, whenFree }: Asking, endsWithToken: boolean) {
    this.protocol = protocol;
    this.#client = client;
    this.#whenFree = whenFree;
    this.#endsWithToken = endsWithToken;
  }

  /** Node reports only that the client has ended its side; for an upgrade that ends the connection. */
  listen(): void {
    this.#whenFree((early) => {
      if (early.length > 0) this.#keepEarly(early);
      this.#client.on('data', this.#keepEarly).on('end', this.#clientEnded);
    });
  }

  readonly #keepEarly = (piece: Buffer): void => {
    this.#early.push(piece);
    this.#earlyBytes += piece.length;
    if (this.#earlyBytes > EARLY_LIMIT_BYTES) this.#client.pause();
  };

  readonly #clientEnded = (): void => {
    this.#client.destroy();
  };

  /**
   * A client speaks the other protocol only when its request is whole (RFC 9110 §7.8): the rest of that goes up first.
   *
   * @param join called when it is whole
   * @returns a function that closes the upstream connection where the request has not become whole
   */
  joinWhenWhole(body: RequestBody, upstream: Socket, join: () => void): () => void {
    const drained = () => body.drained();
    const gone = () => this.#client.destroy();
    upstream.pause();
    upstream.on('error', gone).on('close', gone).on('drain', drained);
    let joined = false;
    body.whenComplete(() => {
      upstream.off('error', gone).off('close', gone).off('drain', drained);
      joined = true;
      join();
    });
    return () => {
      if (!joined) upstream.destroy();
    };
  }

  /** The upstream has switched: from here on it is bytes. */
  join(context: ForwardContext, forwardable: Forwardable, upstream: Switched): Tunnel {
    const { head, socket, early, token, scrubbing } = upstream;
    const { response, route } = forwardable;
    const client = this.#client;
    const protocol = head.lines.pairs[2 * head.lines.fields.indexOf(UPGRADE) + 1]!;
    response.detachSocket(client);
    client.off('data', this.#keepEarly).off('end', this.#clientEnded);
    const reply = replyHead(head.lines, 101, true, forwardable);
    client.write(
      scrubbing === undefined
        ? switchingHead(protocol, reply.headers)
        : switchingHead(scrubbing.text(protocol), scrubbing.head(reply).headers),
      'latin1',
    );
    if (early.length > 0) client.write(early);
    for (const piece of this.#early.splice(0)) socket.write(piece);
    const expires = this.#endsWithToken ? token?.expires : undefined;
    return new Tunnel(context, client, socket, { idleMs: route.timeouts.idleMs, expires });
  }
}

/** Our own 101, each character a byte. */
function switchingHead(protocol: string, headers: readonly string[]): string {
  let text = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
