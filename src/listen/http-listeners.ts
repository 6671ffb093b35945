import { chmodSync, unlinkSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import type { ListenAddress } from '../config/config.ts';
import { ListenError, Problem } from '../errors.ts';
import { answerOnSocket, parserProblem } from './problem.ts';

/** A client has this long to send its headers. */
const HEADERS_TIMEOUT_MS = 60_000;
/** Longer than most clients keep an idle connection, so that it is they who close it, and no request meets a closed one. */
const KEEP_ALIVE_MS = 72_000;
const CHECK_INTERVAL_MS = 2_000;

export interface ListenerOptions {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly headerSizeBytes: number;
  /** Open connections past which a new one is told so and closed. */
  readonly maxConnections: () => number;
  /** Which requests with `Upgrade` are given to `onUpgrade`; the others are ordinary ones. */
  readonly shouldUpgrade: (request: IncomingMessage) => boolean;
  readonly onUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** A connection was answered before there was a request. */
  readonly onRefused: (problem: Problem) => void;
}

/**
 * The sockets that one handler listens on: several addresses, one behaviour. Whatever Node would answer in its
 * own words (parse errors, CONNECT, an unknown `Expect`) is answered here in ours.
 */
export class HttpListeners {
  readonly #options: ListenerOptions;
  readonly #servers: http.Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  createServer(): http.Server {
    const { handler, headerSizeBytes, shouldUpgrade, onUpgrade } = this.#options;
    const server = http.createServer(
      {
        maxHeaderSize: headerSizeBytes,
        requireHostHeader: false, // We answer that ourselves, as a problem.
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: 0, // An upload may take days; the idle timeout watches it.
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_INTERVAL_MS,
        shouldUpgradeCallback: shouldUpgrade,
      },
      handler,
    );
    server.maxHeadersCount = 0; // The size is the limit.
    server
      .on('connection', (socket) => this.#connected(socket))
      .on('clientError', (error, socket) => this.#clientError(error, socket as Socket))
      .on('connect', (_request, socket) => this.#refuse(socket as Socket, new Problem('method-refused', { allow: '' })))
      .on('checkContinue', handler)
      .on('checkExpectation', (request) => this.#refuse(request.socket, new Problem('expectation-failed')))
      .on('upgrade', (request, socket, head) => {
        // Node before 22.21 has no say in which upgrades are taken.
        if (shouldUpgrade(request)) return onUpgrade(request, socket as Socket, head);
        const response = new http.ServerResponse(request);
        response.assignSocket(socket as Socket);
        response.shouldKeepAlive = false;
        response.on('finish', () => (socket as Socket).destroySoon());
        handler(request, response);
      });
    this.#servers.push(server);
    return server;
  }

  /**
   * Listens on every address; gives the URLs. `localhost` is 127.0.0.1 and ::1, where they exist.
   *
   * @throws ListenError naming the address; nothing stays open then.
   */
  async listen(addresses: readonly ListenAddress[], first: http.Server): Promise<string[]> {
    const urls: string[] = [];
    let server: http.Server | undefined = first;
    const next = () => {
      const result = server ?? this.createServer();
      server = undefined;
      return result;
    };
    for (const address of addresses) {
      if (address.kind === 'unix') {
        await listenUnix(next(), address.path);
        urls.push(`unix:${address.path}`);
      } else if (address.host === 'localhost') {
        const v4 = next();
        await listenTcp(v4, '127.0.0.1', address.port);
        const { port } = v4.address() as AddressInfo;
        await listenTcp(next(), '::1', port).catch((error: ListenError) => {
          if (!isAbsent(error.cause)) throw error;
        });
        urls.push(`http://localhost:${port}`);
      } else {
        const tcp = next();
        await listenTcp(tcp, address.host, address.port);
        const { port } = tcp.address() as AddressInfo;
        urls.push(`http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`);
      }
    }
    return urls;
  }

  /** No new connections; idle ones are closed. Call it again while connections become idle. */
  stopAccepting(): void {
    for (const server of this.#servers) {
      if (server.listening) server.close();
      server.closeIdleConnections();
    }
  }

  destroyAll(): void {
    for (const server of this.#servers) if (server.listening) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(socket: Socket): void {
    if (this.#sockets.size >= this.#options.maxConnections()) {
      return this.#refuse(socket, new Problem('overloaded', { retryAfterS: 1 }));
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #clientError(error: NodeJS.ErrnoException, socket: Socket): void {
    // An answer that has begun can't be followed by another one.
    const begun = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage?.headersSent;
    if (begun || error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    this.#refuse(socket, parserProblem(error));
  }

  #refuse(socket: Socket, problem: Problem): void {
    socket.on('error', () => {});
    answerOnSocket(socket, problem);
    this.#options.onRefused(problem);
  }
}

/** The machine has no such address: there is no IPv6, most likely. */
function isAbsent(cause: unknown): boolean {
  const { code } = cause as { code?: string };
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'EINVAL';
}

function listenTcp(server: Server, host: string, port: number): Promise<void> {
  return listening(server, () => server.listen({ host, port }), `${host}:${port}`);
}

/** A socket file that nobody listens on any more is replaced; a live one is somebody's. */
async function listenUnix(server: Server, path: string): Promise<void> {
  if (await isStale(path)) unlinkSync(path);
  const listen = () => {
    // The file must not be there for a moment with a wider mode.
    const umask = process.umask(0o177);
    try {
      server.listen(path);
    } finally {
      process.umask(umask);
    }
  };
  await listening(server, listen, `unix:${path}`);
  chmodSync(path, 0o600);
}

function isStale(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path)
      .on('connect', () => {
        probe.destroy();
        resolve(false);
      })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}

const LISTEN_REASONS: Record<string, string> = {
  EADDRINUSE: 'the address is already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the name does not resolve',
};

function listening(server: Server, listen: () => void, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      const reason = LISTEN_REASONS[error.code ?? ''] ?? error.code ?? 'unknown error';
      reject(new ListenError(`cannot listen on ${name}: ${reason}`, { cause: error }));
    };
    server.once('error', failed);
    server.once('listening', () => {
      server.off('error', failed);
      resolve();
    });
    try {
      listen();
    } catch (error) {
      failed(error as NodeJS.ErrnoException);
    }
  });
}
