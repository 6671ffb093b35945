import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { RequestEvent } from '../base/events.ts';
import { PROBLEMS, type Problem } from '../base/problem.ts';
import type { ListenTls } from '../config/config.ts';
import { noteProblem } from '../forward/client/problem.ts';
import { isTunnelled } from '../forward/client/upgrade-request.ts';
import { Exchange } from '../forward/exchange.ts';
import type { Forwardable, ForwardContext } from '../forward/forwardable.ts';
import { Upgrade } from '../forward/upgrade.ts';
import type { Lanes } from '../routes/lanes.ts';
import type { UpstreamPools } from '../upstream/pools.ts';
import { type Admission, type AdmissionRules, type Admit, METHOD_NAMES } from './admission.ts';
import { answerHere, DRAINING, MALFORMED, NO_LANE } from './answer-here.ts';
import type { Place } from './bind.ts';
import { arrivalOf, type ClientConnection } from './client-connection.ts';
import { HttpListeners } from './http-listeners.ts';
import { headOf, onceRead } from './joined-request.ts';
import { mount } from './mount.ts';
import { newRequestEvent } from './request-event.ts';
import { nameRequest, RequestIds } from './request-id.ts';
import { hasIllegalCharacter } from './well-formed.ts';

/** What a reload replaces as a whole; a request keeps the one that it began with. */
export interface ProxySettings extends AdmissionRules {
  readonly pools: UpstreamPools;
  /** Guard and match; with limits, where any is configured. */
  readonly admit: Admit;
  readonly maxConnections: number;
  /** In lower case; undefined where no request is named to others. */
  readonly requestIdHeader: string | undefined;
  /** What a proxy in front sends past us; undefined where there is none. */
  readonly lanes: Lanes | undefined;
  /** A tunnel is closed when the token expires that it was opened with. */
  readonly tunnelsExpire: boolean;
}

export interface ProxyOptions {
  readonly settings: () => ProxySettings;
  readonly context: ForwardContext;
  readonly headerSizeBytes: number;
  readonly tls: ListenTls | undefined;
}

/** The listener that clients use. Read from top to bottom: that is the order in which a request meets it. */
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
      // A method that the parser knows and Node has no name for (RTSP's) has no route: Fastify would say so itself.
      handler: (request, response) =>
        METHOD_NAMES.has(request.method!)
          ? handler(request, response)
          : this.take(request, response, request.url!),
      headerSizeBytes,
      maxConnections: () => settings().maxConnections,
      shouldUpgrade: isTunnelled,
      onUpgrade: (request, socket, connection) => this.#upgrade(request, socket, connection),
      departures: context.departures,
      tls,
      onRefused: (problem) => this.#refused(problem),
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

  async listen(addresses: readonly Place[]): Promise<string[]> {
    await this.#app.ready();
    return this.#listeners.listen(addresses, this.#app.server);
  }

  renewCertificate(tls: ListenTls): void {
    this.#listeners.renewCertificate(tls);
  }

  /** A socket for requests that failed on the fast lane of a proxy in front. @throws ListenError */
  listenForRetries(path: string): Promise<void> {
    return this.#listeners.listenBeside(path);
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

  /** Takes over a request that came in on a server of the host program. */
  takeForeign(request: IncomingMessage, response: ServerResponse, target: string): void {
    const malformed = hasIllegalCharacter(target, request.rawHeaders);
    this.take(request, response, target, malformed ? MALFORMED : undefined);
  }

  /** Takes over one request, whose target may be another one than the client sent. */
  take(request: IncomingMessage, response: ServerResponse, target: string, refused?: Admission): void {
    try {
      const forwardable = this.#admit(request, response, target, refused);
      if (forwardable === undefined) return;
      new Exchange(this.#context, forwardable).start();
    } catch (cause) {
      this.#failed('request', request.socket, cause);
    }
  }

  #upgrade(request: IncomingMessage, socket: Socket, connection: ClientConnection): void {
    const response = new http.ServerResponse(request);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.on('finish', () => socket.destroySoon());
    // Node has given the connection away, and tells the response of nothing any more.
    socket.on('error', () => {}).on('drain', () => response.emit('drain'));
    try {
      const { tunnelsExpire } = this.#settings();
      const forwardable = this.#admit(request, response, request.url!);
      if (forwardable === undefined) return;
      const { head } = forwardable;
      const { departures } = this.#context;
      departures.attend(socket, socket);
      const whenFree = (take: (early: Buffer) => void) => connection.whenFree(take);
      const upgrade = new Upgrade({ protocol: head.upgrade!, client: socket, whenFree }, tunnelsExpire);
      new Exchange(this.#context, forwardable, upgrade).start();
    } catch (cause) {
      this.#failed('upgrade', socket, cause);
    }
  }

  /** A fault of ours ends one connection, and no more. */
  #failed(where: string, socket: Socket, cause: unknown): void {
    this.#context.observe({ type: 'internal-error', where, cause });
    socket.destroy();
  }

  /** What is to be forwarded; undefined where the answer has been given here. */
  #admit(
    request: IncomingMessage,
    response: ServerResponse,
    target: string,
    refused?: Admission,
  ): Forwardable | undefined {
    const settings = this.#settings();
    const event = this.#event(request.method!);
    const { requestIdHeader } = settings;
    if (requestIdHeader !== undefined) nameRequest(event, requestIdHeader, request.rawHeaders);
    const asked = arrivalOf(request.socket).beside ? askedOnLane(request, target, settings.lanes) : target;
    const admission = this.#context.draining()
      ? DRAINING
      : asked === undefined
        ? NO_LANE
        : (refused ?? settings.admit(request, asked, settings, event));
    const trace = this.#context.tracing?.begin(request, event);
    if (trace !== undefined) event.trace = trace;
    if (admission.kind === 'forward') {
      const {
        head,
        route,
        target: upstreamTarget,
        corsOrigin,
        dropCookies,
        keepsClientCredential,
      } = admission;
      const pool = settings.pools.of(route);
      return {
        request,
        response,
        head,
        route,
        pool,
        target: upstreamTarget,
        corsOrigin,
        dropCookies,
        keepsClientCredential,
        event,
        trace,
      };
    }
    if (this.#context.stopping()) response.shouldKeepAlive = false;
    // An answer of our own is told of when it is over, like any other.
    response.on('close', () => {
      event.durationMs = this.#context.clock.monoMs() - event.startedMonoMs;
      event.aborted = !response.writableFinished;
      this.#context.observe(event);
    });
    onceRead(request, () => answerHere(response, admission, event));
    return undefined;
  }

  /** There is no request that could be told of when it is over. */
  #refused(problem: Problem): string {
    const event = this.#event('');
    event.status = PROBLEMS[problem.code].status;
    noteProblem(event, problem);
    this.#context.observe(event);
    return event.requestId;
  }

  #event(method: string): RequestEvent {
    return newRequestEvent(this.#ids.next(), method, this.#context.clock.monoMs());
  }
}

/** A request that failed on the fast lane comes as it was sent to the upstream; its target is to be what the client's was. */
function askedOnLane(request: IncomingMessage, target: string, lanes: Lanes | undefined): string | undefined {
  const { host, via } = headOf(request);
  return lanes?.asked({ method: request.method!, via, host, target });
}
