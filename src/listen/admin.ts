import type { IncomingMessage, RequestListener } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { Problem } from '../base/problem.ts';
import { Departures } from '../forward/client/departures.ts';
import { answerProblem } from '../forward/client/problem.ts';
import { splitTarget } from '../routes/path.ts';
import {
  type AdminView,
  addEndpoints,
  answerNotHere,
  type Endpoints,
  endpointOf,
  notHere,
} from './admin-endpoints.ts';
import { asksForServer } from './admission.ts';
import { isLoopback } from './arrival.ts';
import type { Place } from './bind.ts';
import { arrivalOf } from './client-connection.ts';
import { HttpListeners } from './http-listeners.ts';
import { headOf, onceRead } from './joined-request.ts';
import { answerOptions } from './options.ts';
import { StatusFeed } from './status-feed.ts';
import { headProblem } from './well-formed.ts';

const SERVER_METHODS = 'GET, HEAD, POST, OPTIONS';
const CONNECTION_LIMIT = 1_000;

export class AdminListener {
  readonly #view: AdminView;
  readonly #headerSizeBytes: number;
  readonly #listeners: HttpListeners;
  readonly #app: FastifyInstance;
  readonly #feed: StatusFeed;
  readonly #endpoints: Endpoints;

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
      onRefused: () => undefined,
    });
    this.#app = fastify({
      logger: false,
      exposeHeadRoutes: true,
      rewriteUrl: ({ url = '/' }) => splitTarget(url)?.path ?? url, // The absolute form, too.
      frameworkErrors: (_error, _request, reply) => answerNotHere(reply), // What the router can't decode.
      clientErrorHandler: () => {}, // As for the proxy: ours has answered already.
      serverFactory: (fastifyHandler) => {
        handler = fastifyHandler;
        return this.#listeners.createServer();
      },
    });
    this.#endpoints = addEndpoints(this.#app, view, this.#feed);
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
    const arrival = arrivalOf(socket);
    const host = guard.checkHosts(head.host, target?.authority, arrival);
    if (host instanceof Problem) return host;
    const origin = guard.checkOrigin(head, target?.authority, arrival);
    if (origin instanceof Problem) return origin;
    const endpoint = target && this.#endpoints.get(endpointOf(target.path));
    if (!isLoopback(arrival) && endpoint?.openToProbes !== true) {
      // Those with names may call the API, by routes of their own; what all of them did is shown here.
      if (guard.callers?.identify(head, '')?.caller.name !== '') return new Problem('caller-key-required');
    }
    if (forServer) return undefined;
    if (endpoint === undefined) return notHere();
    const allow = endpoint.methods.join(', ');
    return endpoint.methods.includes(method) ? undefined : new Problem('method-refused', { allow });
  }
}
