import type { IncomingMessage, RequestListener } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ListenAddress } from '../config/config.ts';
import { Problem } from '../errors.ts';
import { readRequestHead } from '../forward/request-head.ts';
import type { Guard } from './guard.ts';
import { HttpListeners } from './http-listeners.ts';
import { answerProblem } from './problem.ts';

/** What the admin listener shows; each is asked anew for each request. */
export interface AdminView {
  readonly guard: () => Guard;
  readonly readiness: () => { readonly ready: boolean };
  readonly status: () => unknown;
  readonly page: () => string;
  readonly metrics: () => Promise<{ contentType: string; text: string }>;
  /** Renews every session token; gives the reasons of those that failed, by name. */
  readonly renew: () => Promise<{ readonly renewed: readonly string[]; readonly failed: Readonly<Record<string, string>> }>;
}

/** These answer without a caller key wherever the listener is: the kubelet and Prometheus have none. */
const OPEN_TO_PROBES = new Set(['/healthz', '/readyz', '/metrics']);
const CONNECTION_LIMIT = 1_000;

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

export class AdminListener {
  readonly #view: AdminView;
  readonly #listeners: HttpListeners;
  readonly #app: FastifyInstance;

  constructor(view: AdminView, headerSizeBytes: number) {
    this.#view = view;
    let handler: RequestListener = () => {};
    this.#listeners = new HttpListeners({
      handler: (request, response) => handler(request, response),
      headerSizeBytes,
      maxConnections: () => CONNECTION_LIMIT,
      shouldUpgrade: () => false,
      onUpgrade: (_request, socket) => socket.destroy(),
      onRefused: () => {},
    });
    this.#app = fastify({
      logger: false,
      exposeHeadRoutes: true,
      serverFactory: (fastifyHandler) => {
        handler = fastifyHandler;
        return this.#listeners.createServer();
      },
    });
    this.#routes();
  }

  async listen(addresses: readonly ListenAddress[]): Promise<string[]> {
    await this.#app.ready();
    return this.#listeners.listen(addresses, this.#app.server);
  }

  async close(): Promise<void> {
    this.#listeners.destroyAll();
    await this.#app.close();
  }

  #routes(): void {
    const { readiness, status, page, metrics, renew } = this.#view;
    this.#app.addHook('onRequest', async (request, reply) => {
      const problem = this.#guard(request);
      if (problem !== undefined) explain(reply, problem);
    });
    this.#app.setNotFoundHandler((request, reply) => explain(reply, this.#notFound(request)));
    this.#app.setErrorHandler((_error, _request, reply) => explain(reply, new Problem('bad-request')));

    this.#app.get('/healthz', async (_request, reply) => reply.type('text/plain').send('ok\n'));
    this.#app.get('/readyz', async (_request, reply) => {
      const state = readiness();
      return reply.code(state.ready ? 200 : 503).header('cache-control', 'no-store').send(state);
    });
    this.#app.get('/metrics', async (_request, reply) => {
      const { contentType, text } = await metrics();
      return reply.type(contentType).send(text);
    });
    this.#app.get('/status', async (_request, reply) => reply.header('cache-control', 'no-store').send(status()));
    this.#app.get('/', async (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('content-security-policy', PAGE_POLICY)
        .header('x-content-type-options', 'nosniff')
        .send(page()),
    );
    // A POST without a body, or with one that says nothing: nothing is parsed.
    this.#app.removeAllContentTypeParsers();
    this.#app.addContentTypeParser('*', (_request, payload, done) => {
      payload.resume();
      done(null);
    });
    this.#app.post('/renew', async (_request, reply) => {
      const result = await renew();
      return reply.code(Object.keys(result.failed).length === 0 ? 200 : 502).send(result);
    });
  }

  #guard(request: FastifyRequest): Problem | undefined {
    const { raw } = request;
    const head = readRequestHead(raw.rawHeaders);
    const guard = this.#view.guard();
    if (head.hostLines > 1 || (head.hostLines === 0 && raw.httpVersion !== '1.0')) return new Problem('bad-request');
    const hostProblem = head.host === undefined ? undefined : guard.checkHost(head.host, raw.socket);
    if (hostProblem !== undefined) return hostProblem;
    const origin = guard.checkOrigin(head);
    if (origin instanceof Problem) return origin;
    // An origin that may use the proxy may not steer it.
    if (origin !== undefined) return new Problem('origin-refused');
    if (isFromLoopback(raw) || OPEN_TO_PROBES.has(raw.url!.split('?', 1)[0]!)) return undefined;
    return guard.hasCallerKey ? guard.checkCallerKey(head) : new Problem('caller-key-required');
  }

  #notFound({ raw }: FastifyRequest): Problem {
    const path = raw.url!.split('?', 1)[0]!;
    if (path === '/renew') return new Problem('method-refused', { allow: 'POST' });
    const known = OPEN_TO_PROBES.has(path) || path === '/status' || path === '/';
    return known ? new Problem('method-refused', { allow: 'GET, HEAD' }) : new Problem('no-route');
  }
}

/** By the address that the connection arrived at, not by whence it came: that is what was opened to others. */
function isFromLoopback({ socket }: IncomingMessage): boolean {
  const address = socket.localAddress;
  return address === undefined || address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

function explain(reply: FastifyReply, problem: Problem): void {
  reply.hijack();
  answerProblem(reply.raw, problem);
}
