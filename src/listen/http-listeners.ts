import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { Server, type Socket } from 'node:net';
import { type Member, Members } from '../base/members.ts';
import { Problem } from '../base/problem.ts';
import type { ListenTls } from '../config/config.ts';
import type { Departures } from '../forward/client/departures.ts';
import { answerOnSocket } from '../forward/client/problem.ts';
import { takeSlowHeadCheck } from '../node/slow-heads.ts';
import { READS_UPGRADE_BODIES } from '../node/upgrade-body.ts';
import { bind, type Door, type Place } from './bind.ts';
import { ClientConnection, type ConnectionOwner, connectionOf } from './client-connection.ts';
import { headOf, JoinedRequest } from './joined-request.ts';
import { createSecureServer, renewCertificate } from './secure-server.ts';

/** A client has this long to send its headers. */
const HEADERS_TIMEOUT_MS = 60_000;
/** Longer than most clients keep an idle connection, so that it is they who close it, and no request meets a closed one. */
const KEEP_ALIVE_MS = 72_000;
const CHECK_INTERVAL_MS = 2_000;
const TCP_KEEP_ALIVE_MS = 60_000;
/** Refused connections beyond so many are closed as soon as they are answered. */
const MOST_LINGERING = 24;
/** Heads that are not whole may be so large together: each is held by the parser, before a key is asked for. */
const MOST_HEAD_BYTES = 16 * 1024 * 1024;
const NO_TUNNEL = new Problem('method-refused');
const NO_TLS = new Problem('bad-request', {
  detail: 'This port speaks HTTPS: write https:// in the URL.',
  remedy: 'Write https:// in the URL of the client.',
});

interface HttpDoor extends Door {
  readonly server: http.Server | https.Server;
}

export interface ListenerOptions {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly headerSizeBytes: number;
  /** Open connections past which a new one is told so and closed. */
  readonly maxConnections: () => number;
  /** Which requests with `Upgrade` are given to `onUpgrade`; the others are ordinary ones. */
  readonly shouldUpgrade: (request: IncomingMessage) => boolean;
  readonly onUpgrade: ConnectionOwner['onUpgrade'];
  readonly departures: Departures;
  /** What clients are shown; undefined where they speak plain HTTP. */
  readonly tls?: ListenTls | undefined;
  readonly onRefused: ConnectionOwner['onRefused'];
}

/**
 * The sockets that one handler listens on: several addresses, one behaviour. Whatever Node would answer in its
 * own words (parse errors, CONNECT, an unknown `Expect`) is answered here in ours.
 */
export class HttpListeners {
  readonly #options: ListenerOptions;
  readonly #doors: HttpDoor[] = [];
  /** Those to whom TLS is spoken, from their first byte on or before. */
  readonly #secure = new Members<{ readonly socket: Socket } & Member>();
  readonly #connections = new Members<ClientConnection>();
  /** Those that are too many, until they have taken that answer. */
  readonly #turnedAway = new Members<ClientConnection>();
  readonly #owner: ConnectionOwner;
  /** Of all heads that are not whole. */
  #headBytes = 0;
  /** Listens beside the configured addresses. */
  #beside: HttpDoor | undefined;
  #stopped = false;
  readonly #slowHeadLooks: (() => void)[] = [];
  #slowHeadTimer: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { departures, onUpgrade, onRefused } = options;
    const headsGrew = (bytes: number) => {
      this.#headBytes += bytes;
      return this.#headBytes <= MOST_HEAD_BYTES;
    };
    this.#owner = { departures, onUpgrade, onRefused, headsGrew };
  }

  /** Open ones; a handshake may still be under way. */
  get connections(): number {
    return Math.max(this.#connections.size, this.#secure.size);
  }

  createServer(): http.Server {
    return this.#createDoor().server;
  }

  #createDoor(beside = false): HttpDoor {
    const server = http.createServer(this.#serverOptions());
    const door = { server, byUnixSocket: false, beside };
    server.on('connection', (socket) => this.#connected(socket, door));
    return this.#attend(door);
  }

  #createSecureDoor(tls: ListenTls): HttpDoor {
    const server = createSecureServer(this.#serverOptions(), tls, {
      admits: (socket) => this.#admits(socket),
      onPlain: (socket) => answerOnSocket(socket, NO_TLS, this.#options.onRefused),
    });
    const door = { server, byUnixSocket: false, beside: false };
    server.on('secureConnection', (socket) => this.#connected(socket, door));
    return this.#attend(door);
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
      shouldUpgradeCallback: READS_UPGRADE_BODIES
        ? shouldUpgrade
        : // A server may ignore any Upgrade (RFC 9110 §7.8); the body then goes up as that of an ordinary request.
          (request: IncomingMessage) => !headOf(request).hasBody && shouldUpgrade(request),
    };
  }

  #attend(door: HttpDoor): HttpDoor {
    const { server } = door;
    server.maxHeadersCount = 0; // The size is the limit.
    const handler = (request: IncomingMessage, response: ServerResponse) => {
      connectionOf(request.socket)?.begin(request as JoinedRequest);
      this.#options.handler(request, response);
    };
    server
      .on('request', handler)
      .on('checkContinue', handler)
      .on('checkExpectation', handler)
      .on('upgrade', (request, stream) =>
        connectionOf(request.socket)?.upgrade(request as JoinedRequest, stream),
      )
      .on('connect', ({ socket }) => {
        socket.on('error', () => {}); // Node has given it away, with its own listeners.
        connectionOf(socket)?.giveUp(NO_TUNNEL);
      })
      .on('clientError', (error, socket) => connectionOf(socket as Socket)?.failed(error))
      .once('listening', () => {
        const look = takeSlowHeadCheck(server);
        if (look !== undefined) this.#slowHeadLooks.push(look);
      });
    this.#doors.push(door);
    return door;
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
    let unused = this.#doors.find(({ server }) => server === first);
    const plain = () => {
      const next = unused ?? this.#createDoor();
      unused = undefined;
      return next;
    };
    const secure = tls && (() => this.#createSecureDoor(tls));
    for (const address of addresses) urls.push(await bind(address, plain, secure));
    return urls;
  }

  /**
   * Listens on one more socket, if it isn't open yet; its connections say that they came `beside`.
   *
   * @throws ListenError; it may be had later.
   */
  async listenBeside(path: string): Promise<void> {
    this.#beside ??= this.#createDoor(true);
    const door = this.#beside;
    if (!this.#stopped && !door.server.listening) await bind({ kind: 'unix', path }, () => door);
  }

  /** Shows it to clients from now on; those that are connected stay. */
  renewCertificate(tls: ListenTls): void {
    for (const { server } of this.#doors) if (server instanceof https.Server) renewCertificate(server, tls);
  }

  /** No new connections. `close` of an HTTP server would end those, too, on which nothing has come yet. */
  stopListening(): void {
    this.#stopped = true;
    for (const { server } of this.#doors) if (server.listening) Server.prototype.close.call(server);
  }

  /** No new connections; idle ones are closed. Call it again while connections become idle. */
  stopAccepting(): void {
    this.#stopped = true;
    for (const { server } of this.#doors) {
      if (server.listening) server.close();
      server.closeIdleConnections();
    }
  }

  destroyAll(): void {
    this.#stopped = true;
    for (const { server } of this.#doors) if (server.listening) server.close();
    for (const { socket } of this.#connections) socket.destroy();
    for (const { socket } of this.#turnedAway) socket.destroy();
    for (const { socket } of this.#secure) socket.destroy();
  }

  /** Those that are too many get their answer by TLS, too; a crowd of them would use up the files that the others need. */
  #admits(socket: Socket): boolean {
    if (this.#secure.size >= this.#options.maxConnections() + MOST_LINGERING) return false;
    const member = { socket, memberAt: -1 };
    this.#secure.add(member);
    socket.once('close', () => this.#secure.delete(member));
    return true;
  }

  #connected(socket: Socket, door: Door): void {
    const connection = new ClientConnection(socket, door, this.#owner);
    const isRoom = this.#connections.size < this.#options.maxConnections();
    const members = isRoom ? this.#connections : this.#turnedAway;
    members.add(connection);
    socket.once('close', () => members.delete(connection));
    if (isRoom) {
      this.#lookForSlowHeads();
    } else {
      connection.giveUp(new Problem('overloaded', { retryAfterS: 1 }));
      // A crowd that waits to be read out would use up the files that the others need.
      if (this.#turnedAway.size > MOST_LINGERING) socket.destroy();
    }
  }
}
