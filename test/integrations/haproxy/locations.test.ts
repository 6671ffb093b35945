import t from 'tap';
import { request } from '../../support/gateway.ts';
import { NO_HAPROXY } from '../../support/haproxy.ts';
import { pairFor } from '../../support/lanes.ts';
import { ask } from '../../support/raw-client.ts';
import { answer } from './compare.ts';

// A redirect on the fast lane becomes a path only if that path leads back, as with bearerd alone.

const YAML = `
credentials:
  token: { type: session, clientId: sa-1, clientSecret: client-secret }
routes:
  - { prefix: /, credential: token }
  - { prefix: /admin, credential: none, upstream: 'http://127.0.0.1:9' }
  - { prefix: /closed, credential: deny }
  - { prefix: /a, credential: token, rewrite: /up }
  - { prefix: /a/b, credential: token, rewrite: /zzz }
  - { prefix: /c, credential: token, rewrite: /up/b }
  - { prefix: /a/other, credential: none, upstream: 'http://127.0.0.1:9/x', rewrite: /y }
  - { prefix: /deep, credential: token, rewrite: /admin/deep }
  - { host: h.localhost, prefix: /h, credential: token, rewrite: /v }
  - { host: h.localhost, prefix: /h/w, credential: none, upstream: 'http://127.0.0.1:9' }
`;

const PATHS = [
  '/',
  '/x',
  '/admin',
  '/admin/x?y#z',
  '/admin/deep/x',
  '/admins',
  '/closed/x',
  '/up',
  '/up/b/x',
  '/up/b',
  '/up/bb',
  '/up/other/x',
  '/up/x',
  '/zzz/x',
  '/a/x',
  '/a/b/x',
  '/c',
  '/h/x',
  '/v/x',
  '/v/w/x',
  '/y',
  '//evil.example/x',
  '/admin//x',
];

for (const basePath of ['', '/v2']) {
  t.test(
    `HAProxy maps a Location and a Link as bearerd does, with the base path "${basePath}"`,
    { skip: NO_HAPROXY },
    async (t) => {
      const pair = await pairFor(t, { yaml: YAML, basePath });
      const { upstream } = pair;
      upstream.onRequest = answer;
      const byBearerd = pair.requests().length;
      const wanted: string[] = [];
      const found: string[] = [];
      const asked = ['/', '/a', '/a/b', '/c', '/deep'].map((path) => ['localhost', path] as const);
      for (const [host, target] of [...asked, ['h.localhost', '/h'] as const]) {
        for (const path of PATHS) {
          for (const value of [upstream.url + basePath + path, basePath + path]) {
            const say = [`x-say-location: ${value}`, `x-say-link: <${value}>; rel=next; anchor="${value}"`];
            const bytes = request('GET', target, ...say).replace(/^host: .*$/im, `host: ${host}`);
            for (const [port, all] of [
              [pair.port, wanted],
              [pair.front, found],
            ] as const) {
              const response = await ask(port, bytes);
              const mapped = [response.header('location'), response.header('link')];
              all.push(`${host}${target} ${value}: ${response.status} ${mapped.join(' ')}`);
            }
          }
        }
      }
      t.strictSame(found, wanted);
      t.equal(pair.requests().length - byBearerd, wanted.length, 'each took the fast lane once');
    },
  );
}
