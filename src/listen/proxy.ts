import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { RequestEvent } from '../base/events.ts';
import { PROBLEMS, type Problem } from '../base/problem.ts';
import type { ListenTls } from '../config/sections/tls.ts';
import { bodyOf, recordProblem } from '../forward/client/problem.ts';
import { isTunnelled } from '../forward/client/upgrade-request.ts';
import { Exchange } from '../forward/exchange.ts';
import type { Forwardable, ForwardContext } from '../forward/forwardable.ts';
import { Upgrade } from '../forward/upgrade.ts';
import type { Lanes } from '../routes/lanes.ts';
import type { UpstreamPools } from '../upstream/pools.ts';
import { type Admission, type AdmissionRules, type Admit, METHOD_NAMES } from './admission.ts';
import { answerHere, REFUSE_DRAINING, REFUSE_MALFORMED, REFUSE_UNKNOWN_LANE } from './answer-here.ts';
import type { ListenTarget } from './bind.ts';
import { arrivalOf, type ClientConnection } from './client-connection.ts';
import { HttpListeners } from './http-listeners.ts';
import { headOf, type JoinedRequest, onceRead } from './joined-request.ts';
import { mount } from './mount.ts';
import { newRequestEvent } from './request-event.ts';
import { RequestIds, setRequestId } from './request-id.ts';
import { hasIllegalCharacter } from './well-formed.ts';

/** The target of CONNECT, unless it holds a login. */
const AUTHORITY = /^[^@/?#]+$/;

/** What a reload replaces as a whole; each request keeps the settings that it began with. */
export interface ProxySettings extends AdmissionRules {
  readonly pools: UpstreamPools;
  /** Guard and match, and the rate limits if there are any. */
  readonly admit: Admit;
  readonly maxConnections: number;
  /** The answer to connections past `maxConnections`. */
  readonly tooMany: Problem;
  /** In lower case; undefined if IDs are neither read nor sent. */
  readonly requestIdHeader: string | undefined;
  /** The lanes of a proxy in front that sends requests past bearerd; undefined if there is none. */
  readonly lanes: Lanes | undefined;
  /** Close a tunnel when the token that opened it expires. */
  readonly tunnelsExpire: boolean;
}

interface ProxyOptions {
  readonly settings: () => ProxySettings;
  readonly context: ForwardContext;
  readonly headerSizeBytes: number;
  readonly tls: ListenTls | undefined;
}

/** The listener for clients. Its methods are in the order of a request's way. */
export class ProxyListener {
  readonly #settings: () => ProxySettings;
  readonly #context: ForwardContext;
  readonly #listeners: HttpListeners;
  readonly #app: FastifyInstance;
  readonly #ids = new RequestIds();

  constructor({ settings, context, headerSizeBytes, tls }: ProxyOptions) {
    this.#settings = settings;
    this.#context = context;
    let handler: http.RequestListener = () => {};
    this.#listeners = new HttpListeners({
      // A method that only the parser knows (RTSP's) has no Fastify route; Fastify would answer it in its own words.
      handler: (request, response) =>
        METHOD_NAMES.has(request.method)
          ? handler(request, response)
          : this.take(request, response, request.url),
      headerSizeBytes,
      maxConnections: () => settings().maxConnections,
      tooMany: () => settings().tooMany,
      onReplaced: (path) => context.observe({ type: 'socket-replaced', path }),
      shouldUpgrade: isTunnelled,
      onUpgrade: (request, socket, connection) => this.#upgrade(request, socket, connection),
      departures: context.departures,
      tls,
      onRefused: (problem, request) => this.#reportRefused(problem, request),
    });
    this.#app = mount(
      (listener) => {
        handler = listener;
        return this.#listeners.createServer();
      },
      (request, response, target) => this.take(request, response, target),
    );
  }

  get connections(): number {
    return this.#listeners.connections;
  }

  async listen(addresses: readonly ListenTarget[]): Promise<string[]> {
    await this.#app.ready();
    return this.#listeners.listen(addresses, this.#app.server);
  }

  renewCertificate(tls: ListenTls): void {
    this.#listeners.renewCertificate(tls);
  }

  /** Listens on the socket for requests that failed on the fast lane of a proxy in front. @throws ListenError */
  listenForRetries(path: string): Promise<void> {
    return this.#listeners.listenForRetries(path);
  }

  stopListening(): void {
    this.#listeners.stopListening();
  }

  stopAccepting(): void {
    this.#listeners.stopAccepting();
  }

  async close(): Promise<void> {
    this.#listeners.destroyAll();
    await this.#app.close();
  }

  /** Takes a request that came to a server of the host program, with a target of its choice. */
  takeFromHost(request: IncomingMessage, response: ServerResponse, target: string): void {
    const malformed = hasIllegalCharacter(target, request.rawHeaders);
    this.take(request, response, target, malformed ? REFUSE_MALFORMED : undefined);
  }

  /** Takes a request. @param target the client's, or the one that a host program chose; `request.url` may be rewritten */
  take(request: IncomingMessage, response: ServerResponse, target: string, refused?: Admission): void {
    try {
      const forwardable = this.#forwardableOrAnswered(request, response, target, refused);
      if (forwardable === undefined) return;
      new Exchange(this.#context, forwardable).start();
    } catch (cause) {
      this.#failed('request', request.socket, cause);
    }
  }

  #upgrade(request: JoinedRequest, socket: Socket, connection: ClientConnection): void {
    const response = new http.ServerResponse(request);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.on('finish', () => socket.destroySoon());
    // Node has detached the socket, and reports nothing to the response any more.
    socket.on('error', () => {}).on('drain', () => response.emit('drain'));
    try {
      const { tunnelsExpire } = this.#settings();
      const forwardable = this.#forwardableOrAnswered(request, response, request.url);
      if (forwardable === undefined) return;
      const { head } = forwardable;
      const { departures } = this.#context;
      departures.watchWhenPaused(socket, socket);
      const handOverTo = (take: (early: Buffer) => void) => connection.handOverTo(take);
      const upgrade = new Upgrade({ protocol: head.upgrade!, client: socket, handOverTo }, tunnelsExpire);
      new Exchange(this.#context, forwardable, upgrade).start();
    } catch (cause) {
      this.#failed('upgrade', socket, cause);
    }
  }

  /** An exception in our own code ends this connection only. */
  #failed(where: string, socket: Socket, cause: unknown): void {
    this.#context.observe({ type: 'internal-error', where, cause });
    socket.destroy();
  }

  /** @returns what is forwarded; undefined if bearerd answers the request itself */
  #forwardableOrAnswered(
    request: IncomingMessage,
    response: ServerResponse,
    target: string,
    refused?: Admission,
  ): Forwardable | undefined {
    const settings = this.#settings();
    const event = this.#event(request, settings);
    const clientTarget = arrivalOf(request.socket).forRetries
      ? targetBeforeLane(request, target, settings.lanes)
      : target;
    const admission = this.#context.draining()
      ? REFUSE_DRAINING
      : clientTarget === undefined
        ? REFUSE_UNKNOWN_LANE
        : (refused ?? settings.admit(request, clientTarget, settings, event));
    const trace = this.#context.tracing?.begin(request, event);
    if (trace !== undefined) event.trace = trace;
    if (admission.kind === 'forward') {
      const {
        head,
        route,
        target: upstreamTarget,
        corsOrigin,
        variesByOrigin,
        dropCookies,
        keepsClientCredential,
        ownRoutes,
      } = admission;
      return {
        request,
        response,
        head,
        route,
        pool: settings.pools.ofRoute(route),
        target: upstreamTarget,
        corsOrigin,
        variesByOrigin,
        dropCookies,
        keepsClientCredential,
        ownRoutes,
        event,
        trace,
      };
    }
    if (this.#context.stopping()) response.shouldKeepAlive = false;
    // The event of an answer of our own comes at its end, as that of any other.
    response.on('close', () => {
      event.durationMs = this.#context.clock.monoMs() - event.startedMonoMs;
      event.aborted = !response.writableFinished;
      this.#context.observe(event);
    });
    onceRead(request, () => answerHere(response, admission, event));
    return undefined;
  }

  /** Reports an answer without a request at once: no response object tells when it ends. */
  #reportRefused(problem: Problem, request: IncomingMessage | undefined): RequestEvent {
    const event = this.#event(request, this.#settings());
    event.path = AUTHORITY.exec(request?.url ?? '')?.[0] ?? '';
    event.bytesOut = bodyOf(problem, event.requestId).length;
    event.status = PROBLEMS[problem.code].status;
    recordProblem(event, problem);
    this.#context.observe(event);
    return event;
  }

  #event(request: IncomingMessage | undefined, { requestIdHeader }: ProxySettings): RequestEvent {
    const event = newRequestEvent(this.#ids.next(), request?.method ?? '', this.#context.clock.monoMs());
    if (requestIdHeader !== undefined) setRequestId(event, requestIdHeader, request?.rawHeaders ?? []);
    return event;
  }
}

/** The client's target: a request that failed on the fast lane comes with the target that the upstream got. */
function targetBeforeLane(
  request: IncomingMessage,
  target: string,
  lanes: Lanes | undefined,
): string | undefined {
  const { host, via } = headOf(request);
  return lanes?.asked({ method: request.method!, via, host, target });
}
