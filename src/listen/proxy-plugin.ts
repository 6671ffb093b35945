import type { IncomingMessage, ServerResponse } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const ROUTES = ['/', '/*'];

export interface ProxyPluginOptions {
  /** The client's target; the router may have got another one. */
  readonly targetOf: (request: FastifyRequest) => string;
  /** Gets each raw request after the application's hooks. */
  readonly take: (request: IncomingMessage, response: ServerResponse, target: string) => void;
}

/**
 * The routes to the upstream, in the application of `start` and in that of a host (`bearerd/fastify`).
 *
 * Fastify calls the application's hooks, finds the route, and closes the plugin with the application.
 * `@fastify/http-proxy` adds the routes, for every method and with untouched bodies. Then `take` gets the raw request: neither
 * of the two answers it, and nothing is sent to `upstream`.
 */
export async function proxyPlugin(
  app: FastifyInstance,
  { targetOf, take }: ProxyPluginOptions,
): Promise<void> {
  // The hook never calls back, so that nothing follows it. http-proxy's own `handler` option would not do: before it is
  // called, http-proxy resolves the target against the upstream.
  const preHandler = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    take(request.raw, reply.raw, targetOf(request));
  };
  const methods = app.supportedMethods;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  if (app.hasReplyDecorator('from')) {
    // The host uses @fastify/reply-from itself, which http-proxy can't register a second time.
    for (const url of ROUTES)
      app.route({ url, method: methods, exposeHeadRoute: false, preHandler, handler: () => {} });
    return;
  }
  await app.register(httpProxy, {
    upstream: 'http://upstream.invalid',
    httpMethods: methods,
    routes: ROUTES,
    proxyPayloads: false,
    preHandler,
  });
}
