import http from 'node:http';
import { createProxyServer } from 'http-proxy-3';
import { TOKEN } from '../../fixtures.ts';

/** Arguments: port, upstream. Without an agent it would open a connection for each request. */
const [, , port, target] = process.argv;
const proxy = createProxyServer({
  target: target!,
  agent: new http.Agent({ keepAlive: true }),
  headers: { authorization: `Bearer ${TOKEN}` },
});
proxy.on('error', (_error, _request, response) => response.destroy());
http.createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1');
