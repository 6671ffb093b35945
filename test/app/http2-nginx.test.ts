import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { freePort } from '../support/free-port.ts';
import { gatewayFor, request } from '../support/gateway.ts';
import { CA_FILE } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';

// A real server that ends its HTTP/2 connections early and often, by a GOAWAY that leaves requests unprocessed
// (RFC 9113 §6.8).
const NGINX = spawnSync('nginx', ['-v']).error === undefined;
const skip = NGINX ? false : 'nginx is not installed';
const tlsFile = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));

async function nginx(t: Test, settings: string): Promise<string> {
  const dir = t.testdir({});
  const [port, plain] = [await freePort(), await freePort()];
  const file = join(dir, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; master_process off; worker_processes 1; pid ${dir}/pid; error_log stderr crit;
events { worker_connections 512; }
http {
  access_log off; client_body_temp_path ${dir}; proxy_temp_path ${dir}; fastcgi_temp_path ${dir};
  uwsgi_temp_path ${dir}; scgi_temp_path ${dir};
  server {
    listen 127.0.0.1:${port} ssl http2;
    ssl_certificate ${tlsFile('server.pem')}; ssl_certificate_key ${tlsFile('server.key')};
    client_max_body_size 10m;
    ${settings}
    location / { return 200 "fine"; }
    location /up { proxy_pass http://127.0.0.1:${plain}/; proxy_max_temp_file_size 0; client_body_buffer_size 1m; }
  }
  server { listen 127.0.0.1:${plain}; location / { return 200 "read"; } }
}
`,
  );
  const child = spawn('nginx', ['-e', 'stderr', '-p', dir, '-c', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  // nginx writes this file once it listens.
  await until(() => existsSync(join(dir, 'pid')), 'nginx does not listen');
  return `https://localhost:${port}`;
}

for (const settings of ['keepalive_timeout 0;', 'keepalive_requests 1;', 'keepalive_requests 50;']) {
  t.test(`an nginx with "${settings}" answers each of 400 GETs of 24 clients`, { skip }, async (t) => {
    const baseUrl = await nginx(t, settings);
    const env = { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none' };
    const { client } = await gatewayFor(t, { baseUrl, env, loggedIn: false });
    const statuses: number[] = [];
    const one = async (share: number) => {
      const own = await client();
      for (let n = 0; n < share; n++)
        statuses.push((await own.send(request('GET', `/${n}`)).response()).status);
      own.close();
    };
    await Promise.all(Array.from({ length: 24 }, (_, n) => one(n < 16 ? 17 : 16)));
    t.equal(statuses.length, 400);
    t.same([...new Set(statuses)], [200]);
  });
}

t.test('no upload of 40 KB fails although nginx ends its connections', { skip }, async (t) => {
  const baseUrl = await nginx(t, 'keepalive_requests 100;');
  const env = { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none' };
  const { client } = await gatewayFor(t, { baseUrl, env, loggedIn: false });
  const body = 'x'.repeat(40_000);
  const statuses = new Map<number, number>();
  const one = async () => {
    const own = await client();
    for (let n = 0; n < 40; n++) {
      const { status } = await own
        .send(request('POST', '/', `content-length: ${body.length}`) + body)
        .response();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    own.close();
  };
  await Promise.all(Array.from({ length: 8 }, one));
  t.same([...statuses], [[200, 320]]);
});

// That nginx ends its connections shows after the first request, with 50 only after the 50th.
for (const [settings, before] of [
  ['keepalive_timeout 0;', 1],
  ['keepalive_requests 1;', 1],
  ['keepalive_requests 50;', 60],
] as const) {
  t.test(`an nginx with "${settings}" gets each upload of 100 KB whole`, { skip }, async (t) => {
    const baseUrl = await nginx(t, settings);
    const env = { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none' };
    const { client, get } = await gatewayFor(t, { baseUrl, env, loggedIn: false });
    for (let n = 0; n < before; n++) await get('/');
    const body = 'x'.repeat(100_000);
    const texts = new Map<string, number>();
    const one = async () => {
      const own = await client();
      for (let n = 0; n < 10; n++) {
        const { text } = await own
          .send(request('POST', '/up', `content-length: ${body.length}`) + body)
          .response();
        texts.set(text, (texts.get(text) ?? 0) + 1);
      }
      own.close();
    };
    await Promise.all(Array.from({ length: 10 }, one));
    t.same([...texts], [['read', 100]]);
  });
}
