import http, { type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { type ProxyPluginOptions, proxyPlugin } from './proxy-plugin.ts';

const METHODS = http.METHODS.filter((method) => method !== 'CONNECT');

/**
 * The application of `start`: the proxy's plugin, and nothing else. Its router never sees the client's target, which it
 * would decode, and refuse what is legal; no parser reads a body; Fastify's own answers are not used.
 *
 * @param createServer makes the server, with Fastify's listener to be called for each request
 */
export function mount(
  createServer: (listener: RequestListener) => Server,
  take: ProxyPluginOptions['take'],
): FastifyInstance {
  const app = fastify({
    logger: false,
    rewriteUrl: () => '/',
    clientErrorHandler: () => {}, // Ours has answered already.
    serverFactory: createServer,
  });
  // "Without body" to Fastify means that it leaves the body alone, whatever its type says.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.register(proxyPlugin, { targetOf: ({ originalUrl }) => originalUrl, take });
  return app;
}
