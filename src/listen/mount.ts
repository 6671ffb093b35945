import http, { type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { type ProxyPluginOptions, proxyPlugin } from './proxy-plugin.ts';

const METHODS = http.METHODS.filter((method) => method !== 'CONNECT');

/**
 * The Fastify application of `start`: only the plugin of the proxy. Its router gets `/` instead of the client's target, which
 * it would decode, and refuse although it is legal. No parser reads a body, and Fastify answers nothing itself.
 *
 * @param createServer makes the server; `listener` is Fastify's, to be called for each request
 */
export function mount(
  createServer: (listener: RequestListener) => Server,
  take: ProxyPluginOptions['take'],
): FastifyInstance {
  const app = fastify({
    logger: false,
    rewriteUrl: () => '/',
    clientErrorHandler: () => {}, // `HttpListeners` has answered already.
    serverFactory: createServer,
  });
  // To Fastify, `hasBody: false` means that it doesn't read the body, whatever its type.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.register(proxyPlugin, { targetOf: ({ originalUrl }) => originalUrl, take });
  return app;
}
