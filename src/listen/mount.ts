import http, {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import httpProxy from '@fastify/http-proxy';
import fastify, { type FastifyInstance } from 'fastify';

const METHODS = http.METHODS.filter((method) => method !== 'CONNECT');

/**
 * Mounts our handler on Fastify by `@fastify/http-proxy`, at `/` for every method. Fastify owns the server's life: its
 * hooks, its orderly close. http-proxy registers the route for all methods with bodies untouched. What a proxy must
 * not do is kept from both: the router never sees the client's target (it would decode it, and refuse what is
 * legal), no parser reads a body, nothing is sent to `upstream`, and Fastify's own answers are not used.
 *
 * @param createServer makes the server, with Fastify's listener to be called for each request
 * @param take gets each request raw, with the target as the client sent it
 */
export function mount(
  createServer: (listener: RequestListener) => Server,
  take: (request: IncomingMessage, response: ServerResponse, target: string) => void,
): FastifyInstance {
  const app = fastify({
    logger: false,
    rewriteUrl: () => '/',
    clientErrorHandler: () => {}, // Ours has answered already.
    serverFactory: createServer,
  });
  // "Without body" to Fastify means that it leaves the body alone, whatever its type says.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.register(httpProxy, {
    upstream: 'http://upstream.invalid',
    httpMethods: METHODS as never,
    routes: ['/'],
    proxyPayloads: false,
    // Not its `handler`: before that it resolves the target against the upstream, three times `new URL`. The hook
    // never calls back, so that nothing comes after it.
    preHandler: (request, reply, _done) => {
      reply.hijack();
      take(request.raw as IncomingMessage, reply.raw as ServerResponse, request.originalUrl);
    },
  });
  return app;
}
