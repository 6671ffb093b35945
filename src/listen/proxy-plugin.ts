import type { IncomingMessage, ServerResponse } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const ROUTES = ['/', '/*'];

export interface ProxyPluginOptions {
  /** What is asked for, where that is not what the router has seen. */
  readonly targetOf: (request: FastifyRequest) => string;
  /** Gets each request raw, after the hooks of the application. */
  readonly take: (request: IncomingMessage, response: ServerResponse, target: string) => void;
}

/**
 * The routes that lead to the upstream: in the application of `start`, and in a host's (`bearerd/fastify`).
 *
 * Fastify calls the application's hooks, finds the route, and ends the routes with the application. `@fastify/http-proxy`
 * adds the routes, for every method and with bodies untouched. Then the request is taken over raw: nothing is
 * sent to `upstream`, and neither of the two answers.
 */
export async function proxyPlugin(
  app: FastifyInstance,
  { targetOf, take }: ProxyPluginOptions,
): Promise<void> {
  // It never calls back, so that nothing comes after it. Not http-proxy's `handler`: before that it resolves the target
  // against the upstream.
  const preHandler = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    take(request.raw, reply.raw, targetOf(request));
  };
  const methods = app.supportedMethods;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  if (app.hasReplyDecorator('from')) {
    // A host that has @fastify/reply-from for itself can't have it a second time, with http-proxy.
    for (const url of ROUTES)
      app.route({ url, method: methods, exposeHeadRoute: false, preHandler, handler: () => {} });
    return;
  }
  await app.register(httpProxy, {
    upstream: 'http://upstream.invalid',
    httpMethods: methods as never,
    routes: [...ROUTES],
    proxyPayloads: false,
    preHandler: preHandler as never,
  });
}
