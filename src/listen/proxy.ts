import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import httpProxy from '@fastify/http-proxy';
import fastify, { type FastifyInstance } from 'fastify';
import type { ListenAddress } from '../config/config.ts';
import { Problem } from '../errors.ts';
import type { RequestEvent } from '../events.ts';
import { Exchange, type Forwardable, type ForwardContext } from '../forward/exchange.ts';
import { isTunnelled, Upgrade } from '../forward/upgrade.ts';
import type { UpstreamPools } from '../forward/upstream-pool.ts';
import { type Admission, type AdmissionRules, admit } from './admission.ts';
import { HttpListeners } from './http-listeners.ts';
import { answerProblem } from './problem.ts';

/** What a reload replaces as a whole; a request keeps the one that it began with. */
export interface ProxySettings extends AdmissionRules {
  readonly pools: UpstreamPools;
  readonly maxConnections: number;
}

export interface ProxyOptions {
  readonly settings: () => ProxySettings;
  readonly context: ForwardContext;
  readonly headerSizeBytes: number;
}

/** A preflight's answer may be kept this long by the browser. */
const PREFLIGHT_MAX_AGE_S = '600';

/** The listener that clients use. Read from top to bottom: that is the order in which a request meets it. */
export class ProxyListener {
  readonly #settings: () => ProxySettings;
  readonly #context: ForwardContext;
  readonly #listeners: HttpListeners;
  readonly #app: FastifyInstance;
  #requests = 0;

  constructor({ settings, context, headerSizeBytes }: ProxyOptions) {
    this.#settings = settings;
    this.#context = context;
    let handler: http.RequestListener = () => {};
    this.#listeners = new HttpListeners({
      handler: (request, response) => handler(request, response),
      headerSizeBytes,
      maxConnections: () => settings().maxConnections,
      shouldUpgrade: ({ headers }) =>
        isTunnelled(headers.upgrade, headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0),
      onUpgrade: (request, socket, head) => this.#upgrade(request, socket, head),
      onRefused: ({ code }) => context.observe({ type: 'connection-refused', code }),
    });
    this.#app = fastify({
      logger: false,
      // The router must not see the client's target: it would decode it, and refuse what is legal.
      rewriteUrl: () => '/',
      serverFactory: (fastifyHandler) => {
        handler = fastifyHandler;
        return this.#listeners.createServer();
      },
    });
    // "Without body" to Fastify means that it leaves the body alone, whatever its type says.
    for (const method of http.METHODS) {
      if (method !== 'CONNECT') this.#app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
    }
    this.#app.register(httpProxy, {
      upstream: 'http://upstream.invalid', // Never contacted: our handler forwards.
      httpMethods: http.METHODS.filter((method) => method !== 'CONNECT') as never,
      routes: ['/'],
      proxyPayloads: false,
      handler: (request, reply) => {
        reply.hijack();
        this.#request(request.raw as IncomingMessage & { originalUrl: string }, reply.raw);
      },
    });
  }

  get connections(): number {
    return this.#listeners.connections;
  }

  async listen(addresses: readonly ListenAddress[]): Promise<string[]> {
    await this.#app.ready();
    return this.#listeners.listen(addresses, this.#app.server);
  }

  stopAccepting(): void {
    this.#listeners.stopAccepting();
  }

  async close(): Promise<void> {
    this.#listeners.destroyAll();
    await this.#app.close();
  }

  #request(request: IncomingMessage & { originalUrl: string }, response: ServerResponse): void {
    const event = this.#event(request);
    try {
      const settings = this.#settings();
      const admission = this.#context.draining()
        ? DRAINING
        : admit(request, request.originalUrl, settings, event);
      if (admission.kind === 'forward') {
        const forwardable = toForwardable(request, response, admission, settings, event);
        return new Exchange(this.#context, forwardable).start();
      }
      this.#finishOwn(response, event);
      if (admission.kind === 'preflight') answerPreflight(response, admission, event);
      else answerProblem(response, admission.problem, admission.corsOrigin, event);
    } catch (cause) {
      this.#context.observe({ type: 'internal-error', where: 'request', cause });
      request.socket.destroy();
    }
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const event = this.#event(request);
    const response = new http.ServerResponse(request);
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
    socket.on('error', () => {});
    try {
      const settings = this.#settings();
      const admission = this.#context.draining() ? DRAINING : admit(request, request.url!, settings, event);
      if (admission.kind === 'forward') {
        const forwardable = toForwardable(request, response, admission, settings, event);
        return new Upgrade(this.#context, forwardable, socket, head).start();
      }
      this.#finishOwn(response, event);
      response.shouldKeepAlive = false;
      if (admission.kind === 'preflight') answerPreflight(response, admission, event);
      else answerProblem(response, admission.problem, admission.corsOrigin, event);
    } catch (cause) {
      this.#context.observe({ type: 'internal-error', where: 'upgrade', cause });
      socket.destroy();
    }
  }

  #event(request: IncomingMessage): RequestEvent {
    return {
      type: 'request',
      requestId: (++this.#requests).toString(36),
      method: request.method!,
      path: '',
      route: '',
      credential: '',
      status: 0,
      code: undefined,
      startedMonoMs: this.#context.clock.monoMs(),
      durationMs: 0,
      bytesIn: 0,
      bytesOut: 0,
      aborted: false,
    };
  }

  /** An answer of our own is told of when it is over, like any other. */
  #finishOwn(response: ServerResponse, event: RequestEvent): void {
    response.on('close', () => {
      event.durationMs = this.#context.clock.monoMs() - event.startedMonoMs;
      event.aborted = !response.writableFinished;
      this.#context.observe(event);
    });
  }
}

const DRAINING: Admission = {
  kind: 'refuse',
  problem: new Problem('draining', { retryAfterS: 1 }),
  corsOrigin: undefined,
};

function toForwardable(
  request: IncomingMessage,
  response: ServerResponse,
  { head, route, target, corsOrigin, dropCookies }: Extract<Admission, { kind: 'forward' }>,
  settings: ProxySettings,
  event: RequestEvent,
): Forwardable {
  const pool = settings.pools.get(route.upstreamOrigin, route.timeouts.connectMs);
  return { request, response, head, route, pool, target, corsOrigin, dropCookies, event };
}

/** The browser's question before a cross-origin request (Fetch §4.8); it can't carry a caller key. */
function answerPreflight(
  response: ServerResponse,
  { head, corsOrigin }: Extract<Admission, { kind: 'preflight' }>,
  event: RequestEvent,
): void {
  event.status = 204;
  const headers = [
    'access-control-allow-origin',
    corsOrigin,
    'access-control-allow-methods',
    head.preflightMethod!,
    'access-control-max-age',
    PREFLIGHT_MAX_AGE_S,
    'vary',
    'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  ];
  if (head.preflightHeaders !== undefined) headers.push('access-control-allow-headers', head.preflightHeaders);
  response.writeHead(204, headers);
  response.end();
}
