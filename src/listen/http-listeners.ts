import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { Server, type Socket } from 'node:net';
import { type Member, Members } from '../base/members.ts';
import { Problem } from '../base/problem.ts';
import type { ListenTls } from '../config/sections/tls.ts';
import type { Departures } from '../forward/client/departures.ts';
import { answerOnSocket } from '../forward/client/problem.ts';
import { takeSlowHeadCheck } from '../node/slow-heads.ts';
import { READS_UPGRADE_BODIES } from '../node/upgrade-body.ts';
import { type BoundServer, bind, type ListenTarget, type Servers } from './bind.ts';
import { ClientConnection, type ClientConnectionOwner, connectionOf } from './client-connection.ts';
import { headOf, JoinedRequest } from './joined-request.ts';
import { createSecureServer, renewCertificate } from './secure-server.ts';

/** A client has this long to send the head of a request. */
const HEADERS_TIMEOUT_MS = 60_000;
/** Longer than most clients keep an idle connection: so the client closes it, and no request meets a closed connection. */
const CLIENT_IDLE_MS = 72_000;
const CHECK_INTERVAL_MS = 2_000;
const TCP_KEEP_ALIVE_MS = 60_000;
/** Up to this many refused connections get time to read their 503; others are closed once it is written. */
const MAX_LINGERING = 24;
/** All incomplete heads together: the parser keeps them before a caller key is checked. */
const MAX_HEAD_BYTES = 16 * 1024 * 1024;
const METHOD_REFUSED = new Problem('method-refused');
const TOO_MANY = new Problem('overloaded', { retryAfterS: 1 });
const NO_TLS = new Problem('bad-request', {
  detail: 'This port speaks HTTPS: write https:// in the URL.',
  remedy: 'Write https:// in the URL of the client.',
});

interface BoundHttpServer extends BoundServer {
  readonly server: http.Server<typeof JoinedRequest> | https.Server<typeof JoinedRequest>;
}

export interface ListenerOptions extends Pick<Servers, 'onReplaced'> {
  readonly handler: (request: JoinedRequest, response: ServerResponse) => void;
  readonly headerSizeBytes: number;
  /** A new connection past so many open ones is answered with 503 and closed. */
  readonly maxConnections: () => number;
  /** The answer to connections past `maxConnections`. */
  readonly tooMany?: () => Problem;
  /** Decides which requests with `Upgrade` go to `onUpgrade`; the others are ordinary requests. */
  readonly shouldUpgrade: (request: IncomingMessage) => boolean;
  readonly onUpgrade: ClientConnectionOwner['onUpgrade'];
  readonly departures: Departures;
  /** The certificate for clients; undefined if they use plain HTTP. */
  readonly tls?: ListenTls | undefined;
  readonly onRefused: ClientConnectionOwner['onRefused'];
  /** The answer to CONNECT, and to TRACE if the parser refuses its target. */
  readonly methodRefused?: Problem;
}

/**
 * The servers of one handler: several addresses, one behaviour. What Node would answer in its own words (parse errors,
 * CONNECT, an unknown `Expect`) is answered here as a problem.
 */
export class HttpListeners {
  readonly #options: ListenerOptions;
  readonly #servers: BoundHttpServer[] = [];
  /** Connections on which TLS is used, from before the handshake on. */
  readonly #secure = new Members<{ readonly socket: Socket } & Member>();
  readonly #connections = new Members<ClientConnection>();
  /** Connections past the limit, until they have read their 503. */
  readonly #turnedAway = new Members<ClientConnection>();
  readonly #owner: ClientConnectionOwner;
  /** Bytes of all incomplete heads. */
  #headBytes = 0;
  /** Serves requests that failed on the fast lane. */
  #forRetries: BoundHttpServer | undefined;
  #stopped = false;
  readonly #slowHeadChecks: (() => void)[] = [];
  #slowHeadTimer: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { departures, onUpgrade, onRefused, methodRefused = METHOD_REFUSED } = options;
    const headBytesChanged = (bytes: number) => {
      this.#headBytes += bytes;
      return this.#headBytes <= MAX_HEAD_BYTES;
    };
    this.#owner = { departures, onUpgrade, onRefused, methodRefused, headBytesChanged };
  }

  /** Open connections, including those in a TLS handshake. */
  get connections(): number {
    return Math.max(this.#connections.size, this.#secure.size);
  }

  createServer(): http.Server<typeof JoinedRequest> {
    return this.#createPlain().server;
  }

  #createPlain(forRetries = false): BoundHttpServer {
    const server = http.createServer(this.#serverOptions());
    const bound = { server, byUnixSocket: false, forRetries };
    server.on('connection', (socket) => this.#connected(socket, bound));
    return this.#serve(bound);
  }

  #createSecure(tls: ListenTls): BoundHttpServer {
    const server = createSecureServer(this.#serverOptions(), tls, {
      letsIn: (socket) => this.#letsIn(socket),
      onPlain: (socket) => answerOnSocket(socket, NO_TLS, this.#options.onRefused),
    });
    const bound = { server, byUnixSocket: false, forRetries: false };
    server.on('secureConnection', (socket) => this.#connected(socket, bound));
    return this.#serve(bound);
  }

  #serverOptions() {
    const { headerSizeBytes, shouldUpgrade } = this.#options;
    return {
      IncomingMessage: JoinedRequest,
      insecureHTTPParser: false, // Even if NODE_OPTIONS asks for it.
      maxHeaderSize: headerSizeBytes,
      keepAlive: true, // Detects a client whose machine has gone.
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      requireHostHeader: false, // `headProblem` checks it, and answers with a problem.
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: 0, // An upload may take days; the idle timeout limits it.
      keepAliveTimeout: CLIENT_IDLE_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      shouldUpgradeCallback: READS_UPGRADE_BODIES
        ? shouldUpgrade
        : // This Node would not read the body of an upgrade. A server may ignore any Upgrade (RFC 9110 §7.8).
          (request: IncomingMessage) => !headOf(request).hasBody && shouldUpgrade(request),
    };
  }

  #serve(bound: BoundHttpServer): BoundHttpServer {
    const { server } = bound;
    server.maxHeadersCount = 0; // Only the size of the headers is limited.
    const handler = (request: JoinedRequest, response: ServerResponse) => {
      connectionOf(request.socket)?.begin(request);
      this.#options.handler(request, response);
    };
    server
      .on('request', handler)
      .on('checkContinue', handler)
      .on('checkExpectation', handler)
      .on('upgrade', (request, stream) => connectionOf(request.socket)?.upgrade(request, stream))
      .on('connect', (request) => {
        request.socket.on('error', () => {}); // Node has detached the socket, and removed its own listeners.
        connectionOf(request.socket)?.closeWith(this.#owner.methodRefused, request);
      })
      .on('clientError', (error, socket) => connectionOf(socket)?.failed(error))
      .once('listening', () => {
        const check = takeSlowHeadCheck(server);
        if (check !== undefined) this.#slowHeadChecks.push(check);
      });
    this.#servers.push(bound);
    return bound;
  }

  /** Looks for slow heads while there are connections. */
  #checkSlowHeads(): void {
    this.#slowHeadTimer ??= setInterval(() => {
      for (const check of this.#slowHeadChecks) check();
      if (this.#connections.size > 0) return;
      clearInterval(this.#slowHeadTimer);
      this.#slowHeadTimer = undefined;
    }, CHECK_INTERVAL_MS).unref();
  }

  /**
   * Listens on every address, and gives the URLs. `localhost` is 127.0.0.1 and ::1, as far as they exist.
   *
   * @throws ListenError naming the address; `destroyAll` closes the sockets that were opened before
   */
  async listen(addresses: readonly ListenTarget[], first: http.Server): Promise<string[]> {
    const { tls, onReplaced } = this.#options;
    const urls: string[] = [];
    let unused = this.#servers.find(({ server }) => server === first);
    const plain = () => {
      const next = unused ?? this.#createPlain();
      unused = undefined;
      return next;
    };
    const secure = tls && (() => this.#createSecure(tls));
    for (const address of addresses) urls.push(await bind(address, { plain, secure, onReplaced }));
    return urls;
  }

  /**
   * Listens on the Unix socket for requests that failed on the fast lane, unless it is open already.
   *
   * @throws ListenError; a later call may succeed
   */
  async listenForRetries(path: string): Promise<void> {
    this.#forRetries ??= this.#createPlain(true);
    const bound = this.#forRetries;
    if (!this.#stopped && !bound.server.listening) await bind({ kind: 'unix', path }, { plain: () => bound });
  }

  /** Uses a new certificate for new connections; open ones stay. */
  renewCertificate(tls: ListenTls): void {
    for (const { server } of this.#servers) if (server instanceof https.Server) renewCertificate(server, tls);
  }

  /** Accepts no new connections. `close` of an HTTP server would also end connections whose first request has not come. */
  stopListening(): void {
    this.#stopped = true;
    for (const { server } of this.#servers) if (server.listening) Server.prototype.close.call(server);
  }

  /** Accepts no new connections, and closes idle ones. Call it again while connections become idle. */
  stopAccepting(): void {
    this.#stopped = true;
    for (const { server } of this.#servers) {
      if (server.listening) server.close();
      server.closeIdleConnections();
    }
  }

  destroyAll(): void {
    this.#stopped = true;
    for (const { server } of this.#servers) if (server.listening) server.close();
    for (const { socket } of this.#connections) socket.destroy();
    for (const { socket } of this.#turnedAway) socket.destroy();
    for (const { socket } of this.#secure) socket.destroy();
  }

  /** Lets in some connections past the limit, too: they get their 503 over TLS. More would use up the open files. */
  #letsIn(socket: Socket): boolean {
    if (this.#secure.size >= this.#options.maxConnections() + MAX_LINGERING) return false;
    const member = { socket, memberAt: -1 };
    this.#secure.add(member);
    socket.once('close', () => this.#secure.delete(member));
    return true;
  }

  #connected(socket: Socket, bound: BoundServer): void {
    const connection = new ClientConnection(socket, bound, this.#owner);
    const isRoom = this.#connections.size < this.#options.maxConnections();
    const members = isRoom ? this.#connections : this.#turnedAway;
    members.add(connection);
    socket.once('close', () => members.delete(connection));
    if (isRoom) {
      this.#checkSlowHeads();
    } else {
      connection.closeWith(this.#options.tooMany?.() ?? TOO_MANY);
      // More connections that wait to be read out would use up the open files.
      if (this.#turnedAway.size > MAX_LINGERING) socket.destroy();
    }
  }
}
