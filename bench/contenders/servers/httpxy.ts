import http from 'node:http';
import { createProxyServer } from 'httpxy';
import { TOKEN } from '../../fixtures.ts';

/** Arguments: port, upstream. */
const [, , port, target] = process.argv;
const proxy = createProxyServer({
  target: target!,
  agent: new http.Agent({ keepAlive: true }),
  headers: { authorization: `Bearer ${TOKEN}` },
});
proxy.on('error', (_error, _request, response) => response?.destroy());
http.createServer((request, response) => void proxy.web(request, response)).listen(Number(port), '127.0.0.1');
