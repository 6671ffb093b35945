import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { Problem } from '../errors.ts';
import type { ConnectionAware, UpstreamConnection } from './connection.ts';
import type { Connector } from './connector.ts';
import { hearLastWords } from './last-words.ts';

const STATUS_LINE = Buffer.from('HTTP/1.');

/** undici's HTTP/1.1 connection, which remembers what undici forgets. */
export class Http1Connection extends Client implements UpstreamConnection {
  memberAt = -1;
  requests = 0;
  peerGone = false;
  peerReset = false;
  openedMonoMs = 0;
  #socket: Socket | undefined;
  /** Of so many requests the answer has begun. */
  #answers = 0;

  constructor(origin: string | URL, options: Client.Options, connector: Connector) {
    super(origin, {
      ...options,
      connect: (connectOptions, callback) =>
        connector(connectOptions, (error, socket) => {
          if (error !== null) return callback(error, null);
          // undici would try again, at once and for ever.
          if (socket.destroyed) return callback(new Problem('upstream-unreachable'), null);
          this.#watch(socket);
          callback(null, socket);
        }),
    });
  }

  get connected(): boolean {
    return this.#socket?.destroyed === false;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (handler as ConnectionAware).connection = this;
    return super.dispatch(options, handler);
  }

  /** Called before undici adds its own listeners, so that ours have run when it reports an end. */
  #watch(socket: Socket): void {
    this.#socket = socket;
    this.openedMonoMs = performance.now();
    this.requests = 0;
    this.peerGone = false;
    this.peerReset = false;
    this.#answers = 0;
    this.#checkVersion(socket);
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

  /** undici's parser takes `HTTP/2.0 200` and `RTSP/1.0 200` for an answer in HTTP/1.1. */
  #checkVersion(socket: Socket): void {
    const read = socket.read.bind(socket);
    socket.read = (size) => {
      const chunk: Buffer | null = read(size);
      if (chunk === null || this.#answers === this.requests) return chunk;
      this.#answers = this.requests;
      if (beginsAsHttp1(chunk)) return chunk;
      socket.destroy(new Problem('upstream-invalid'));
      return null;
    };
  }
}

/** As far as it has come; an empty line before it does no harm. */
function beginsAsHttp1(chunk: Buffer): boolean {
  const length = Math.min(chunk.length, STATUS_LINE.length);
  return chunk[0] === 0x0d || chunk[0] === 0x0a || chunk.compare(STATUS_LINE, 0, length, 0, length) === 0;
}
