import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Connector } from './connector.ts';
import { hearLastWords } from './last-words.ts';
import type { ConnectionAware, UpstreamConnection } from './upstream-connection.ts';

/** undici's HTTP/1.1 connection, which remembers what undici forgets. */
export class Http1Connection extends Client implements UpstreamConnection {
  requests = 0;
  peerGone = false;
  peerReset = false;

  constructor(origin: string | URL, options: Client.Options, connector: Connector) {
    super(origin, {
      ...options,
      connect: (connectOptions, callback) =>
        connector(connectOptions, (error, socket) => {
          if (error !== null) return callback(error, null);
          this.#watch(socket);
          callback(null, socket);
        }),
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (handler as ConnectionAware).connection = this;
    return super.dispatch(options, handler);
  }

  /** Called before undici adds its own listeners, so that ours have run when it reports an end. */
  #watch(socket: Socket): void {
    this.requests = 0;
    this.peerGone = false;
    this.peerReset = false;
    const broken = () => {
      this.peerGone = true;
      this.peerReset = true;
    };
    hearLastWords(socket, broken);
    socket.once('end', () => {
      this.peerGone = true;
      // A write that can't be finished any more, and has not said so yet: the kernel tells of a reset only once.
      if (socket.writableLength > 0) this.peerReset = true;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') broken();
    });
  }
}
