import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';

/** @fastify/http-proxy as it comes, without logs; the header is the only thing added. Arguments: port, upstream. */
const [, , port, upstream] = process.argv;
const app = fastify({ logger: false });
await app.register(httpProxy, {
  upstream: upstream!,
  replyOptions: {
    rewriteRequestHeaders: (_request, headers) => ({ ...headers, authorization: 'Bearer bench-token' }),
  },
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
