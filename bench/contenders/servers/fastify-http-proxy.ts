import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';
import { TOKEN } from '../../fixtures.ts';

/** Arguments: port, upstream. */
const [, , port, upstream] = process.argv;
const app = fastify({ logger: false });
await app.register(httpProxy, {
  upstream: upstream!,
  replyOptions: {
    rewriteRequestHeaders: (_request, headers) => ({ ...headers, authorization: `Bearer ${TOKEN}` }),
  },
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
