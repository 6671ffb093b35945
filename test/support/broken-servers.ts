import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { ConnectionFailure } from '../../src/base/failures/words.ts';
import { later } from './later.ts';
import type { Lifetime } from './lifetime.ts';

// Servers that fail for real, one for each way in which a connection does.

export const tlsPath = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));
export const tlsFile = (name: string) => readFileSync(tlsPath(name), 'utf8');
export const CA = { BEARERD_TLS_CA_FILE: tlsPath('ca.pem') };

export async function listening(t: Lifetime, server: Server | http.Server | https.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export async function secure(
  t: Test,
  certificate: string,
  options: https.ServerOptions = {},
): Promise<string> {
  const server = https.createServer(
    { cert: tlsFile(`${certificate}.pem`), key: tlsFile(`${certificate}.key`), ...options },
    (_request, response) => response.end('{}'),
  );
  return `localhost:${await listening(
    t,
    server.on('tlsClientError', () => {}),
  )}`;
}

export async function plain(t: Test, answer: http.RequestListener): Promise<string> {
  return `http://localhost:${await listening(t, http.createServer(answer))}`;
}

export type Arranged = {
  readonly baseUrl: string;
  readonly env?: Record<string, string>;
  readonly says?: RegExp;
};

export const BROKEN_SERVERS: Partial<Record<ConnectionFailure, (t: Test) => Promise<Arranged>>> = {
  dns: async () => ({ baseUrl: 'https://api.example.invalid' }),
  refused: async () => ({ baseUrl: 'http://127.0.0.1:1' }),
  'tls-timeout': async (t) => {
    // It accepts, and says nothing of TLS: the limit is for the whole way.
    const port = await listening(
      t,
      createServer(() => {}),
    );
    return { baseUrl: `https://127.0.0.1:${port}`, env: { BEARERD_CONNECT_TIMEOUT: '1s' } };
  },
  'outbound-proxy': async () => ({
    baseUrl: 'https://api.example.com',
    env: { HTTPS_PROXY: 'http://127.0.0.1:1' },
    says: /the outbound proxy 127\.0\.0\.1:1 can't be reached: nothing listens at its address and port \(ECONNREFUSED\)/,
  }),
  'tls-self-signed': async (t) => ({ baseUrl: `https://${await secure(t, 'selfsigned')}` }),
  'tls-expired': async (t) => ({ baseUrl: `https://${await secure(t, 'expired')}`, env: CA }),
  'tls-wrong-name': async (t) => ({
    baseUrl: `https://${await secure(t, 'elsewhere')}`,
    env: CA,
    says: /session can't be trusted: its certificate is for another host name, it names elsewhere\.example \(/,
  }),
  'tls-unknown-issuer': async (t) => ({ baseUrl: `https://${await secure(t, 'server')}` }),
  'tls-client-certificate': async (t) => ({
    baseUrl: `https://${await secure(t, 'server', { requestCert: true, rejectUnauthorized: true, ca: tlsFile('ca.pem') })}`,
    env: CA,
  }),
  'tls-version': async (t) => ({
    baseUrl: `https://${await secure(t, 'server', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })}`,
    env: CA,
  }),
  'https-on-plain-port': async (t) => ({
    baseUrl: (await plain(t, (_request, response) => response.end())).replace('http:', 'https:'),
  }),
  'http-on-tls-port': async (t) => ({ baseUrl: `http://${await secure(t, 'server')}` }),
  closed: async (t) => ({
    baseUrl: await plain(t, (request, response) => {
      response.writeHead(200, { 'content-length': 40 });
      response.write('{');
      later(20, () => request.socket.destroy());
    }),
  }),
  'not-http': async (t) => {
    const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n'));
    return { baseUrl: `http://localhost:${await listening(t, server)}` };
  },
  'head-too-large': async (t) => ({
    baseUrl: await plain(t, (_request, response) => response.setHeader('x', 'x'.repeat(20_000)).end()),
    env: { BEARERD_MAX_HEADER_SIZE: '8KiB' },
  }),
};
