import { createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';
import t, { type Test } from 'tap';
import { listening } from '../support/broken-servers.ts';
import { gatewayFor } from '../support/gateway.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { ask } from '../support/raw-client.ts';

// docs/recipes/dev-servers.md: Vite's development server forwards with http-proxy-3.

const mock = await mockFor(t);
const { BEARERD_BASE_URL: baseUrl, ...env } = accountOf(mock);
const PAGE = 'http://localhost:5173';

async function devServer(t: Test, changeOrigin: boolean, allowed?: string) {
  const { port } = await gatewayFor(t, { baseUrl, env: { ...env, BEARERD_ALLOWED_ORIGINS: allowed } });
  const proxy = createProxyServer({ target: `http://127.0.0.1:${port}`, changeOrigin });
  proxy.on('error', (_error, _request, response) => response.destroy());
  const server = createServer((request, response) => proxy.web(request, response));
  const at = await listening(t, server);
  return async (method: string, host: string, ...lines: string[]) => {
    const head = [
      `${method} /companies/example.com HTTP/1.1`,
      `host: ${host}`,
      'connection: close',
      ...lines,
    ];
    const { status } = await ask(at, `${head.join('\r\n')}\r\n\r\n`);
    return status;
  };
}

const SAME = ['sec-fetch-site: same-origin', `origin: ${PAGE}`];

t.test('behind a development server only the page that this server serves gets answers', async (t) => {
  const send = await devServer(t, false);
  t.equal(await send('GET', 'localhost:5173', 'sec-fetch-site: same-origin'), 200);
  t.equal(await send('DELETE', 'localhost:5173', ...SAME), 405, 'the answer of the API');
  t.equal(
    await send('GET', 'localhost:5173', 'sec-fetch-site: cross-site', 'origin: http://evil.example'),
    403,
  );
  t.equal(await send('GET', 'localhost:5173', 'sec-fetch-site: cross-site', 'sec-fetch-mode: no-cors'), 403);
  t.equal(await send('GET', '192.0.2.7:5173'), 403, 'a request from the network');
});

t.test("with changeOrigin the page's origin has to be allowed", async (t) => {
  t.equal(await (await devServer(t, true))('DELETE', 'localhost:5173', ...SAME), 403);
  const send = await devServer(t, true, PAGE);
  t.equal(await send('DELETE', 'localhost:5173', ...SAME), 405, 'the answer of the API');
  t.equal(
    await send('GET', 'localhost:5173', 'sec-fetch-site: cross-site', 'origin: http://evil.example'),
    403,
  );
});
