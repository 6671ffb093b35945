import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { Gateway } from '../../src/app/gateway.ts';
import { connectProxy, refusal } from '../support/connect-proxy.ts';
import { configOf, gatewayFor } from '../support/gateway.ts';
import { RawClient, until, within } from '../support/raw-client.ts';

const tlsFile = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));
const CA = tlsFile('ca.pem');

/** An HTTPS API that gives a token to every client; it counts handshakes and records requests. */
async function secureApi(t: Test, certificate: string, options: https.ServerOptions = {}) {
  const seen = { handshakes: 0, requests: [] as string[], authorization: [] as (string | undefined)[] };
  const server = https.createServer(
    {
      cert: readFileSync(tlsFile(`${certificate}.pem`)),
      key: readFileSync(tlsFile(`${certificate}.key`)),
      ...options,
    },
    (request, response) => {
      seen.requests.push(request.url!);
      seen.authorization.push(request.headers.authorization);
      request.resume();
      response.setHeader('content-type', 'application/json');
      response.end(request.method === 'POST' ? '{"accessToken":"tok-1","expires_in":900}' : '{}');
    },
  );
  server.on('secureConnection', () => seen.handshakes++);
  server.on('tlsClientError', () => {});
  server.on('upgrade', (request, socket) => {
    seen.authorization.push(request.headers.authorization);
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { seen, port, url: `https://localhost:${port}` };
}

async function gatewayTo(t: Test, env: Record<string, string>) {
  const { gateway, events } = await gatewayFor(t, { ...optionsFor(env), loggedIn: false });
  return { gateway, events, get: (path: string) => get(`${gateway.urls[0]}${path}`) };
}

function optionsFor({ BEARERD_BASE_URL = '', ...env }: Record<string, string>) {
  return {
    baseUrl: BEARERD_BASE_URL,
    env: {
      BEARERD_CLIENT_ID: 'id',
      BEARERD_CLIENT_SECRET: 'canary-secret',
      BEARERD_API_KEY: 'canary-key',
      BEARERD_ROUTES: '/=token,/companies=apiKey',
      BEARERD_TOKEN_WAIT: '60s',
      ...env,
    },
  };
}

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly proxyStatus: unknown;
}

function get(url: string): Promise<Answer> {
  const answer = new Promise<Answer>((resolve, reject) => {
    const request = http.get(url, { agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          code: (JSON.parse(body) as { code?: string }).code,
          proxyStatus: response.headers['proxy-status'],
        }),
      );
    });
    request.on('error', reject);
  });
  return within(60_000, answer, () => `no answer to ${url}`);
}

t.test('a private CA is trusted for logins and requests, and connections are kept', async (t) => {
  const api = await secureApi(t, 'server');
  const { get } = await gatewayTo(t, { BEARERD_BASE_URL: api.url, BEARERD_TLS_CA_FILE: CA });
  for (let n = 0; n < 10; n++) t.equal((await get(`/x/${n}`)).status, 200);
  t.equal((await get('/companies/x')).status, 200);
  t.ok(api.seen.handshakes <= 3, `${api.seen.handshakes} handshakes for one login and eleven requests`);
  t.same(new Set(api.seen.authorization), new Set([undefined, 'Bearer tok-1', 'Bearer canary-key']));
});

for (const [why, certificate, ca, host] of [
  ['no CA that we trust signed it', 'server', undefined, 'localhost'],
  ['it is self-signed', 'selfsigned', CA, 'localhost'],
  ['it is for another host', 'elsewhere', CA, 'localhost'],
  ['it has expired', 'expired', CA, 'localhost'],
] as const) {
  t.test(`no credential is sent to a server whose certificate is invalid: ${why}`, async (t) => {
    const api = await secureApi(t, certificate);
    // The variable that switches off verification for all of Node has no effect.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.teardown(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    });
    const { get, events } = await gatewayTo(t, {
      BEARERD_BASE_URL: `https://${host}:${api.port}`,
      BEARERD_TOKEN_WAIT: '300ms',
      ...(ca === undefined ? {} : { BEARERD_TLS_CA_FILE: ca }),
    });
    t.match(await get('/companies/x'), {
      status: 502,
      code: 'upstream-unreachable',
      proxyStatus: 'bearerd; error=tls_certificate_error',
    });
    t.match(await get('/x'), { status: 503, code: 'token-unavailable' });
    const failure = () => events.find((event) => event.type === 'login-failed');
    await until(failure, 'the login does not fail');
    t.match(failure(), { error: { code: 'unreachable' } });
    t.same(api.seen.requests, [], 'the server got no request');
  });
}

t.test('TLS below 1.2 is refused', async (t) => {
  const api = await secureApi(t, 'server', {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL:@SECLEVEL=0',
  });
  const { get } = await gatewayTo(t, { BEARERD_BASE_URL: api.url, BEARERD_TLS_CA_FILE: CA });
  t.match(await get('/companies/x'), { status: 502, code: 'upstream-unreachable' });
  t.same(api.seen.requests, []);
});

t.test('a configured client certificate is presented', async (t) => {
  const mutual = { requestCert: true, rejectUnauthorized: true, ca: readFileSync(CA) };
  const api = await secureApi(t, 'server', mutual);
  const env = { BEARERD_BASE_URL: api.url, BEARERD_TLS_CA_FILE: CA };
  const without = await gatewayTo(t, env);
  t.equal((await without.get('/companies/x')).status, 502);
  const certificate = {
    BEARERD_TLS_CERT_FILE: tlsFile('client.pem'),
    BEARERD_TLS_KEY_FILE: tlsFile('client.key'),
  };
  const { get } = await gatewayTo(t, { ...env, ...certificate });
  t.equal((await get('/x')).status, 200);
  t.equal((await get('/companies/x')).status, 200);
});

t.test('a reload applies a new CA file, without a restart', async (t) => {
  const api = await secureApi(t, 'server');
  const { get, gateway } = await gatewayTo(t, { BEARERD_BASE_URL: api.url });
  t.equal((await get('/companies/x')).status, 502);
  gateway.reconfigure(await configOf(optionsFor({ BEARERD_BASE_URL: api.url, BEARERD_TLS_CA_FILE: CA })));
  t.equal((await get('/companies/x')).status, 200);
});

t.test('an upgrade uses verified TLS, too', async (t) => {
  const api = await secureApi(t, 'server');
  const upgrade = async (gateway: Gateway) => {
    const { host, port } = new URL(gateway.urls[0]!);
    const client = await RawClient.to(Number(port));
    client.send(
      `GET /companies/live HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await client.end();
    return client.received;
  };
  const trusted = await gatewayTo(t, { BEARERD_BASE_URL: api.url, BEARERD_TLS_CA_FILE: CA });
  t.match(await upgrade(trusted.gateway), /^HTTP\/1\.1 101 [\s\S]*\r\n\r\nhello$/);
  t.ok(api.seen.authorization.includes('Bearer canary-key'));
  const untrusted = await gatewayTo(t, { BEARERD_BASE_URL: api.url });
  t.match(await upgrade(untrusted.gateway), /^HTTP\/1\.1 502 [\s\S]*upstream-unreachable/);
});

t.test(
  'HTTPS_PROXY is used by logins, requests and upgrades; the proxy sees only the host name',
  async (t) => {
    const api = await secureApi(t, 'elsewhere');
    const proxy = await connectProxy(t, api.port);
    const { get } = await gatewayTo(t, {
      BEARERD_BASE_URL: 'https://elsewhere.example',
      BEARERD_TLS_CA_FILE: CA,
      HTTPS_PROXY: `http://user:p%40ss@${proxy.host}`,
    });
    t.equal((await get('/x')).status, 200);
    t.equal((await get('/companies/x')).status, 200);
    t.same(new Set(proxy.tunnels), new Set(['elsewhere.example:443']));
    t.equal(proxy.heads[0]?.['proxy-authorization'], `Basic ${Buffer.from('user:p@ss').toString('base64')}`);
    t.notMatch(proxy.clear(), /canary|tok-1|accessToken/);
  },
);

t.test(
  'hosts in NO_PROXY and loopback hosts bypass the outbound proxy; a proxy that refuses gives 502',
  async (t) => {
    const api = await secureApi(t, 'server');
    const refusing = await connectProxy(t, api.port, { answer: refusal(407) });
    const env = { BEARERD_TLS_CA_FILE: CA, HTTPS_PROXY: `http://${refusing.host}` };
    const local = await gatewayTo(t, { ...env, BEARERD_BASE_URL: api.url });
    t.equal((await local.get('/x')).status, 200);
    t.same(refusing.tunnels, []);
    const elsewhere = { ...env, BEARERD_BASE_URL: 'https://elsewhere.example' };
    const refused = await gatewayTo(t, elsewhere);
    t.match(await refused.get('/companies/x'), { status: 502, code: 'upstream-unreachable' });
    t.not(refusing.tunnels.length, 0);
    const before = refusing.tunnels.length;
    const exempt = await gatewayTo(t, { ...elsewhere, NO_PROXY: '.example' });
    t.equal((await exempt.get('/companies/x')).status, 502, 'the name cannot be resolved without the proxy');
    t.equal(refusing.tunnels.length, before);
  },
);

t.test(
  'an outbound proxy that closes the connection gives 502, and is not retried without end',
  async (t) => {
    const silent = await connectProxy(t, 1, { answer: '' });
    for (const env of [
      { BEARERD_BASE_URL: 'http://elsewhere.example', HTTP_PROXY: `http://${silent.host}` },
      { BEARERD_BASE_URL: 'https://elsewhere.example', HTTPS_PROXY: `http://${silent.host}` },
    ]) {
      const before = silent.tunnels.length;
      const { get } = await gatewayTo(t, {
        ...env,
        BEARERD_ALLOW_INSECURE_UPSTREAM: 'true',
        BEARERD_UPSTREAM_HTTP2: 'false',
      });
      t.match(await get('/companies/x'), { status: 502, code: 'upstream-unreachable' });
      const tunnels = silent.tunnels.length - before;
      t.ok(tunnels <= 4, `${tunnels} tunnels for a request and the logins of so short a time`);
    }
  },
);
