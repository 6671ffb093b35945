import type { IncomingMessage, RequestListener } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { Problem } from '../base/errors.ts';
import { Departures } from '../forward/client/departures.ts';
import { answerProblem } from '../forward/client/problem.ts';
import { splitTarget } from '../routes/path.ts';
import { type AdminView, addEndpoints, PAGE_PATH } from './admin-endpoints.ts';
import { asksForServer } from './admission.ts';
import { arrivedAtLoopback, type Place } from './bind.ts';
import { HttpListeners } from './http-listeners.ts';
import { headOf, onceRead } from './joined-request.ts';
import { answerOptions } from './options.ts';
import { StatusFeed } from './status-feed.ts';
import { headProblem } from './well-formed.ts';

/** What there is, and by which methods. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  '/': 'GET, HEAD',
  '/healthz': 'GET, HEAD',
  '/readyz': 'GET, HEAD',
  '/metrics': 'GET, HEAD',
  '/status': 'GET, HEAD',
  '/requests': 'GET, HEAD',
  '/configuration': 'GET, HEAD',
  '/events': 'GET',
  '/renew': 'POST',
  '*': 'OPTIONS',
};
const SERVER_METHODS = 'GET, HEAD, POST, OPTIONS';
/** These answer without a caller key wherever the listener is: the kubelet and Prometheus have none. */
const OPEN_TO_PROBES = new Set(['/healthz', '/readyz', '/metrics']);
const CONNECTION_LIMIT = 1_000;

export class AdminListener {
  readonly #view: AdminView;
  readonly #headerSizeBytes: number;
  readonly #listeners: HttpListeners;
  readonly #app: FastifyInstance;
  readonly #feed: StatusFeed;

  constructor(view: AdminView, headerSizeBytes: number) {
    this.#view = view;
    this.#headerSizeBytes = headerSizeBytes;
    this.#feed = new StatusFeed({ status: view.status });
    let handler: RequestListener = () => {};
    this.#listeners = new HttpListeners({
      handler: (request, response) => {
        const problem = this.#refusal(request);
        if (problem !== undefined) onceRead(request, () => answerProblem(response, problem));
        else if (asksForServer(request.method!, request.url!)) answerOptions(response, SERVER_METHODS);
        else handler(request, response);
      },
      headerSizeBytes,
      maxConnections: () => CONNECTION_LIMIT,
      shouldUpgrade: () => false,
      onUpgrade: (_request, socket) => socket.destroy(),
      departures: new Departures(),
      onRefused: () => {},
    });
    this.#app = fastify({
      logger: false,
      exposeHeadRoutes: true,
      rewriteUrl: ({ url = '/' }) => splitTarget(url)?.path ?? url, // The absolute form, too.
      // What the router can't decode is none of the endpoints.
      frameworkErrors: (_error, _request, reply) => {
        reply.hijack();
        answerProblem(reply.raw, new Problem('no-route'));
      },
      clientErrorHandler: () => {}, // As for the proxy: ours has answered already.
      serverFactory: (fastifyHandler) => {
        handler = fastifyHandler;
        return this.#listeners.createServer();
      },
    });
    addEndpoints(this.#app, view, this.#feed);
  }

  async listen(addresses: readonly Place[]): Promise<string[]> {
    await this.#app.ready();
    return this.#listeners.listen(addresses, this.#app.server);
  }

  /** Something of the status is different. */
  changed(): void {
    this.#feed.changed();
  }

  /** Those who follow the status hear the last of it. */
  endEvents(): void {
    this.#feed.end();
  }

  async close(): Promise<void> {
    this.#feed.end();
    this.#listeners.destroyAll();
    await this.#app.close();
  }

  /** The same rules as for the proxy, before the framework sees the request; then what there is here at all. */
  #refusal(request: IncomingMessage): Problem | undefined {
    const { httpVersion, socket } = request;
    const method = request.method!;
    const url = request.url!;
    if (method === 'TRACE') return new Problem('method-refused', { allow: 'GET, HEAD, POST' });
    const head = headOf(request);
    const guard = this.#view.guard();
    const malformed = headProblem({ method, target: url, httpVersion }, head, this.#headerSizeBytes);
    if (malformed !== undefined) return malformed;
    const forServer = asksForServer(method, url);
    const target = splitTarget(url);
    if (target === undefined && !forServer) return new Problem('bad-path');
    const elsewhere = guard.checkHosts(head.host, target?.authority, socket);
    if (elsewhere !== undefined) return elsewhere;
    const origin = guard.checkOrigin(head, socket);
    if (origin instanceof Problem) return origin;
    const path = forServer || target === undefined ? '*' : target.path;
    if (!arrivedAtLoopback(request) && !OPEN_TO_PROBES.has(path)) {
      // Those with names may call the API, by routes of their own; what all of them did is shown here.
      if (guard.callers?.identify(head, '')?.caller.name !== '') return new Problem('caller-key-required');
    }
    const endpoint = path.startsWith(PAGE_PATH) ? '/' : path;
    const allow = Object.hasOwn(ENDPOINTS, endpoint) ? ENDPOINTS[endpoint]! : undefined;
    if (allow === undefined) return new Problem('no-route');
    return allow.split(', ').includes(method) ? undefined : new Problem('method-refused', { allow });
  }
}
