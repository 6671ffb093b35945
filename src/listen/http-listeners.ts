import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type https from 'node:https';
import { Server, type Socket } from 'node:net';
import { Problem } from '../base/errors.ts';
import { type Member, Members } from '../base/members.ts';
import type { ListenTls } from '../config/config.ts';
import type { Departures } from '../forward/client/departures.ts';
import { lingerAtEnd } from '../forward/client/linger.ts';
import { answerOnSocket, answerProblem, parserProblem } from '../forward/client/problem.ts';
import { announcesBody } from '../forward/client/upgrade-request.ts';
import { answering } from '../node/server-socket.ts';
import { takeSlowHeadLook } from '../node/slow-heads.ts';
import { bind, type Place } from './bind.ts';
import { JoinedRequest } from './joined-request.ts';
import { holdBack, whenQuiet } from './pipelining.ts';
import { createSecureServer, renewCertificate } from './secure-server.ts';
import { StartLines } from './start-lines.ts';

/** A client has this long to send its headers. */
const HEADERS_TIMEOUT_MS = 60_000;
/** Longer than most clients keep an idle connection, so that it is they who close it, and no request meets a closed one. */
const KEEP_ALIVE_MS = 72_000;
const CHECK_INTERVAL_MS = 2_000;
const TCP_KEEP_ALIVE_MS = 60_000;
/** Refused connections beyond so many are closed as soon as they are answered. */
const MOST_LINGERING = 24;
const NO_HTTP = new Problem('bad-request');
const NO_TLS = new Problem('bad-request', {
  detail: 'This port speaks HTTPS: write https:// in the URL.',
});
const GONE = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

export interface ListenerOptions {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly headerSizeBytes: number;
  /** Open connections past which a new one is told so and closed. */
  readonly maxConnections: () => number;
  /** Which requests with `Upgrade` are given to `onUpgrade`; the others are ordinary ones. */
  readonly shouldUpgrade: (request: IncomingMessage) => boolean;
  readonly onUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  readonly departures: Departures;
  /** What clients are shown; undefined where they speak plain HTTP. */
  readonly tls?: ListenTls | undefined;
  /** A connection was answered before there was a request. */
  readonly onRefused: (problem: Problem) => void;
}

interface Connection extends Member {
  readonly socket: Socket;
}

/**
 * The sockets that one handler listens on: several addresses, one behaviour. Whatever Node would answer in its
 * own words (parse errors, CONNECT, an unknown `Expect`) is answered here in ours.
 */
export class HttpListeners {
  readonly #options: ListenerOptions;
  readonly #servers: (http.Server | https.Server)[] = [];
  readonly #secureServers: https.Server[] = [];
  /** Those to whom TLS is spoken, from their first byte on or before. */
  readonly #secure = new Set<Socket>();
  readonly #connections = new Members<Connection>();
  /** Those that get, or have got, their last answer from here. */
  readonly #givenUp = new WeakSet<Socket>();
  /** Those of them that are still open. */
  readonly #lingering = new Set<Socket>();
  /** Requests whose `Upgrade` is ignored. */
  readonly #declined = new WeakSet<IncomingMessage>();
  /** Of those, the ones that something may have come with that Node's parser drops. */
  readonly #followed = new WeakSet<IncomingMessage>();
  /** Requests of another protocol, RTSP's or ICE's. */
  readonly #foreign = new WeakSet<IncomingMessage>();
  /** Listens beside the configured addresses, and what came in there. */
  #beside: http.Server | undefined;
  readonly #cameBeside = new WeakSet<Socket>();
  #stopped = false;
  readonly #startLines = new WeakMap<Socket, StartLines>();
  readonly #slowHeadLooks: (() => void)[] = [];
  #slowHeadTimer: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Open ones; a handshake may still be under way. */
  get connections(): number {
    return Math.max(this.#connections.size, this.#secure.size);
  }

  createServer(): http.Server {
    const server = http.createServer(this.#serverOptions());
    server.on('connection', (socket) => this.#connected(socket));
    this.#attend(server);
    return server;
  }

  #createSecureServer(tls: ListenTls): https.Server {
    const server = createSecureServer(this.#serverOptions(), tls, {
      admits: (socket) => this.#admits(socket),
      onPlain: (socket) => this.#refuse(socket, NO_TLS),
    });
    server.on('secureConnection', (socket) => this.#connected(socket));
    this.#attend(server);
    this.#secureServers.push(server);
    return server;
  }

  #serverOptions() {
    const { headerSizeBytes, shouldUpgrade } = this.#options;
    return {
      IncomingMessage: JoinedRequest,
      insecureHTTPParser: false, // Whatever NODE_OPTIONS says.
      maxHeaderSize: headerSizeBytes,
      keepAlive: true, // Notices a client whose machine is gone.
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      requireHostHeader: false, // We answer that ourselves, as a problem.
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: 0, // An upload may take days; the idle timeout watches it.
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      shouldUpgradeCallback: (request: IncomingMessage) => {
        const alone = this.#startLines.get(request.socket)?.nothingBehindHead(request);
        // Asked here already: Node gives the parser away before it tells of an upgrade.
        this.#judge(request);
        if (!this.#foreign.has(request) && shouldUpgrade(request)) return true;
        this.#declined.add(request);
        if (alone !== true) this.#followed.add(request);
        return false;
      },
    };
  }

  #attend(server: http.Server | https.Server): void {
    server.maxHeadersCount = 0; // The size is the limit.
    const handler = (request: IncomingMessage, response: ServerResponse) => {
      if (!this.#declined.has(request)) this.#judge(request);
      this.#handle(request, response);
    };
    server
      .on('request', handler)
      .on('checkContinue', handler)
      .on('checkExpectation', handler)
      .on('upgrade', (request, socket, head) => {
        socket.on('error', () => {}); // Node has given the socket away, with its own listeners.
        this.#judge(request); // A Node that doesn't ask us hasn't asked.
        whenQuiet(socket as Socket, () => this.#upgrade(request, socket as Socket, head));
      })
      .on('connect', (_request, socket) => {
        socket.on('error', () => {});
        this.#giveUp(socket as Socket, new Problem('method-refused'));
      })
      .on('clientError', (error, socket) => this.#clientError(error, socket as Socket))
      .once('listening', () => {
        const look = takeSlowHeadLook(server);
        if (look !== undefined) this.#slowHeadLooks.push(look);
      });
    this.#servers.push(server);
  }

  /** While there are connections. */
  #lookForSlowHeads(): void {
    this.#slowHeadTimer ??= setInterval(() => {
      for (const look of this.#slowHeadLooks) look();
      if (this.#connections.size > 0) return;
      clearInterval(this.#slowHeadTimer);
      this.#slowHeadTimer = undefined;
    }, CHECK_INTERVAL_MS).unref();
  }

  /**
   * Listens on every address; gives the URLs. `localhost` is 127.0.0.1 and ::1, where they exist.
   *
   * @throws ListenError naming the address. What was opened before is for `destroyAll` to close.
   */
  async listen(addresses: readonly Place[], first: http.Server): Promise<string[]> {
    const { tls } = this.#options;
    const urls: string[] = [];
    let unused: http.Server | undefined = first;
    const plain = () => {
      const next = unused ?? this.createServer();
      unused = undefined;
      return next;
    };
    const secure = tls && (() => this.#createSecureServer(tls));
    for (const address of addresses) urls.push(await bind(address, plain, secure));
    return urls;
  }

  /**
   * Listens on one more socket, if it isn't open yet; `cameBeside` tells its connections from the others.
   *
   * @throws ListenError; it may be had later.
   */
  async listenBeside(path: string): Promise<void> {
    this.#beside ??= this.createServer().on('connection', (socket) => this.#cameBeside.add(socket));
    if (this.#stopped || this.#beside.listening) return;
    const server = this.#beside;
    await bind({ kind: 'unix', path }, () => server);
  }

  cameBeside(socket: Socket): boolean {
    return this.#beside !== undefined && this.#cameBeside.has(socket);
  }

  /** Shows it to clients from now on; those that are connected stay. */
  renewCertificate(tls: ListenTls): void {
    for (const server of this.#secureServers) renewCertificate(server, tls);
  }

  /** No new connections. `close` of an HTTP server would end those, too, on which nothing has come yet. */
  stopListening(): void {
    this.#stopped = true;
    for (const server of this.#servers) if (server.listening) Server.prototype.close.call(server);
  }

  /** No new connections; idle ones are closed. Call it again while connections become idle. */
  stopAccepting(): void {
    this.#stopped = true;
    for (const server of this.#servers) {
      if (server.listening) server.close();
      server.closeIdleConnections();
    }
  }

  destroyAll(): void {
    this.#stopped = true;
    for (const server of this.#servers) if (server.listening) server.close();
    for (const { socket } of this.#connections) socket.destroy();
    for (const socket of this.#lingering) socket.destroy();
    for (const socket of this.#secure) socket.destroy();
  }

  /** Those that are too many get their answer by TLS, too; a crowd of them would use up the files that the others need. */
  #admits(socket: Socket): boolean {
    if (this.#secure.size >= this.#options.maxConnections() + MOST_LINGERING) return false;
    this.#secure.add(socket);
    socket.once('close', () => this.#secure.delete(socket));
    return true;
  }

  #connected(socket: Socket): void {
    if (this.#connections.size >= this.#options.maxConnections()) {
      this.#refuse(socket, new Problem('overloaded', { retryAfterS: 1 }));
      // A crowd that waits to be read out would use up the files that the others need.
      if (this.#lingering.size > MOST_LINGERING) socket.destroy();
    } else {
      const connection = { socket, memberAt: -1 };
      this.#connections.add(connection);
      this.#lookForSlowHeads();
      this.#startLines.set(socket, new StartLines(socket, this.#options.headerSizeBytes));
      socket.once('close', () => this.#connections.delete(connection));
    }
  }

  #judge(request: IncomingMessage): void {
    if (this.#startLines.get(request.socket)?.isHttp(request) === false) this.#foreign.add(request);
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    // What comes after the piece that was dropped may be the middle of a request. It is read all the same: else the
    // client would be reset, and might not get its answer.
    if (this.#followed.has(request)) {
      response.shouldKeepAlive = false;
      lingerAtEnd(request.socket);
    }
    if (response.socket === null) {
      // Pipelined: it waits for its turn. Requests may only run side by side where all are safe (RFC 9112 §9.3.2),
      // and one that comes after the last answer must not run at all.
      const takeTurn = holdBack(request.socket, this.#options.departures);
      response.once('socket', () => {
        takeTurn();
        process.nextTick(() => this.#handle(request, response));
      });
    } else if (request.socket.writableEnded) {
      // The last answer on this connection has been given: what still comes is read, and not acted on.
      request.resume();
    } else if (this.#foreign.has(request)) {
      answerProblem(response, NO_HTTP);
      this.#options.onRefused(NO_HTTP);
    } else {
      this.#options.handler(request, response);
    }
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (!socket.writable) {
      socket.destroy();
    } else if (this.#foreign.has(request)) {
      this.#giveUp(socket, NO_HTTP);
    } else if (this.#options.shouldUpgrade(request)) {
      this.#options.onUpgrade(request, socket, head);
    } else {
      this.#decline(request, socket);
    }
  }

  /**
   * A Node that doesn't ask us takes every upgrade (22 before 22.21, 24 before 24.9): what was to be ignored comes here.
   * Its parser has stopped, so that a body would be lost, and nobody would know that it was there.
   */
  #decline(request: IncomingMessage, socket: Socket): void {
    if (announcesBody(request)) {
      this.#giveUp(socket, new Problem('bad-request'));
      return;
    }
    const response = new http.ServerResponse(request);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.on('finish', () => socket.destroySoon());
    socket.on('drain', () => response.emit('drain'));
    this.#handle(request, response);
  }

  #clientError(error: NodeJS.ErrnoException, socket: Socket): void {
    if (this.#givenUp.has(socket)) return; // The parser complains of each further piece.
    // Gone, or gone from our point of view: a request that ends half way is nobody's.
    if (GONE.has(error.code) || !socket.writable) socket.destroy();
    else this.#giveUp(socket, parserProblem(error));
  }

  /** Gives the last answer on a connection, after those to the requests before. */
  #giveUp(socket: Socket, problem: Problem): void {
    this.#givenUp.add(socket);
    const current = answering(socket);
    if (current === undefined || current.req.complete) {
      whenQuiet(socket, () => this.#refuse(socket, problem));
    } else if (!current.req.emit('malformed', problem)) {
      // It is the body of the request under way that is wrong, and nobody has begun to read it.
      if (current.headersSent) socket.destroy();
      else this.#refuse(socket, problem);
    }
  }

  #refuse(socket: Socket, problem: Problem): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    this.#lingering.add(socket);
    socket.on('error', () => {}).once('close', () => this.#lingering.delete(socket));
    answerOnSocket(socket, problem);
    this.#options.onRefused(problem);
  }
}
