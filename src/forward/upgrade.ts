import type { Socket } from 'node:net';
import { UPGRADE } from '../base/fields.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import { headText } from './client/head-text.ts';
import type { RequestBody } from './client/request-body.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { replyHead } from './headers/response-headers.ts';
import type { Scrubbing } from './scrub/scrubbing.ts';
import { Tunnel } from './tunnel.ts';

/** A client may send this much before the upstream has switched; more waits in the kernel. */
const EARLY_LIMIT_BYTES = 64 * 1024;

/** An upstream that has switched protocols. */
interface Switched {
  readonly head: ResponseHead;
  readonly socket: Socket;
  readonly early: Buffer;
  readonly token: AccessToken | undefined;
  readonly scrubbing: Scrubbing | undefined;
}

/** A request to switch protocols. */
interface TunnelRequest {
  readonly protocol: string;
  readonly client: Socket;
  /** Calls `take` once the request is complete, with the bytes after it: from then on the connection is the caller's. */
  readonly handOverTo: (take: (early: Buffer) => void) => void;
}

/** The client's side of a request that may become a tunnel. */
export class Upgrade {
  readonly protocol: string;
  readonly #client: Socket;
  readonly #handOverTo: TunnelRequest['handOverTo'];
  readonly #endsWithToken: boolean;
  readonly #early: Buffer[] = [];
  #earlyBytes = 0;

  /** @param endsWithToken close the tunnel when the token that opened it expires */
  constructor({ protocol, client, handOverTo }: TunnelRequest, endsWithToken: boolean) {
    this.protocol = protocol;
    this.#client = client;
    this.#handOverTo = handOverTo;
    this.#endsWithToken = endsWithToken;
  }

  /** Keeps what the client sends early. Closes the connection if the client ends its side: Node leaves it half-open. */
  listen(): void {
    this.#handOverTo((early) => {
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
   * Sends the rest of the request to an upstream that has switched early: the client uses the new protocol only after its
   * whole request (RFC 9110 §7.8).
   *
   * @param join called when the request is complete
   * @returns closes the upstream's connection, unless `join` was called
   */
  joinWhenComplete(body: RequestBody, upstream: Socket, join: () => void): () => void {
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

  /** The upstream has switched: passes its 101 to the client, and the early bytes of both sides. */
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

function switchingHead(protocol: string, headers: readonly string[]): string {
  const own = ['connection', 'Upgrade', 'upgrade', protocol];
  return headText('HTTP/1.1 101 Switching Protocols', [...own, ...headers]);
}
