import type { RequestListener } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { Problem } from '../base/problem.ts';
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
import { answerOptions } from './answer-options.ts';
import { isLoopback } from './arrival.ts';
import type { ListenTarget } from './bind.ts';
import { arrivalOf } from './client-connection.ts';
import type { HttpListeners } from './http-listeners.ts';
import { type JoinedRequest, onceRead } from './joined-request.ts';
import { ownListeners } from './own-listeners.ts';
import { StatusFeed } from './status-feed.ts';
import { headProblem } from './well-formed.ts';

/** The answer to CONNECT and TRACE. */
const METHOD_REFUSED = new Problem('method-refused', { allow: 'GET, HEAD, POST' });
const SERVER_METHODS = 'GET, HEAD, POST, OPTIONS';

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
    this.#listeners = ownListeners(
      (request, response) => {
        const problem = this.#refusal(request);
        if (problem !== undefined) onceRead(request, () => answerProblem(response, problem));
        else if (asksForServer(request.method, request.url)) answerOptions(response, SERVER_METHODS);
        else handler(request, response);
      },
      headerSizeBytes,
      METHOD_REFUSED,
    );
    this.#app = fastify({
      logger: false,
      exposeHeadRoutes: true,
      rewriteUrl: ({ url = '/' }) => splitTarget(url)?.path ?? url, // The target may be in absolute form.
      frameworkErrors: (_error, _request, reply) => answerNotHere(reply), // A path that the router can't decode.
      clientErrorHandler: () => {}, // `HttpListeners` has answered already.
      serverFactory: (fastifyHandler) => {
        handler = fastifyHandler;
        return this.#listeners.createServer();
      },
    });
    this.#endpoints = addEndpoints(this.#app, view, this.#feed);
  }

  async listen(addresses: readonly ListenTarget[]): Promise<string[]> {
    await this.#app.ready();
    return this.#listeners.listen(addresses, this.#app.server);
  }

  /** Something in the status has changed. */
  changed(): void {
    this.#feed.changed();
  }

  /** Sends the last status to its viewers, and ends their connections. */
  endEvents(): void {
    this.#feed.end();
  }

  async close(): Promise<void> {
    this.#feed.end();
    this.#listeners.destroyAll();
    await this.#app.close();
  }

  /** Applies the proxy's rules before the framework sees the request, and then checks path and method. */
  #refusal(request: JoinedRequest): Problem | undefined {
    const { httpVersion, method, url, head, socket } = request;
    if (method === 'TRACE') return METHOD_REFUSED;
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
      // Named callers may use only their routes: the admin listener shows what all callers did.
      if (guard.callers?.identify(head, '')?.caller?.name !== '') return new Problem('caller-key-required');
    }
    if (forServer) return undefined;
    if (endpoint === undefined) return notHere();
    const allow = endpoint.methods.join(', ');
    return endpoint.methods.includes(method) ? undefined : new Problem('method-refused', { allow });
  }
}
