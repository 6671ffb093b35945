import t from 'tap';
import { spellingsOf } from '../../routes/spellings.ts';
import { NO_HAPROXY } from '../../support/haproxy.ts';
import { type Pair, pairFor } from '../../support/lanes.ts';
import { SESSION_PATH } from '../../support/raw-upstream.ts';
import { share } from '../../support/share.ts';
import { answer, refusedByParser, type Seen, seen } from './compare.ts';
import { type Generated, generate } from './grammar.ts';

// HAProxy and bearerd must decide as bearerd alone does: status, code, and the upstream's request. A failure names its
// seed: SEED=n runs only that case; LANES=n sets the number of cases.

const SEED = process.env.SEED;
const CASES = Number(process.env.LANES ?? share(2_000));

const LIMIT_MS = 30_000 + 10 * CASES;

const SINGLE = [
  'Host: localhost',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
  'Authorization: Bearer x',
  'X-Api-Key: x',
  'Content-Type: text/plain',
  'Content-Range: bytes 0-1/2',
  'Range: bytes=0-1',
  'If-Range: "x"',
  'User-Agent: x',
  'Referer: http://localhost/',
  'Origin: http://localhost',
  'Sec-Fetch-Site: same-origin',
  'Expect: 100-continue',
  'From: x@example.com',
  'Date: x',
  'Max-Forwards: 0',
  'Max-Forwards: 1',
  'Cookie: a=b',
  'X-Original-URL: /api/admin',
  'x-http-method-override: DELETE',
  'X_Rewrite_URL: /api/admin',
  'X-HTTP_Method: DELETE',
];

const YAML = `
allowedHosts: [sidecar]
credentials:
  token: { type: session, clientId: sa-1, clientSecret: client-secret }
  apiKey: { type: apiKey, key: the-key, header: X-Api-Key, scheme: '' }
routes:
  - { prefix: /companies, credential: apiKey, rewrite: /data/companies, methods: [GET, HEAD, POST] }
  - { prefix: /svc, credential: token, rewrite: / }
  - { prefix: /api, credential: token }
  - { prefix: /api/admin, credential: deny }
  - { prefix: /API/Old, credential: token }
  - { prefix: /kept, credential: token, clientAuthorization: keep }
  - { prefix: /open, credential: none }
  - { prefix: /, credential: token }
  - { host: Orders.localhost, prefix: /, credential: apiKey, rewrite: /orders }
  - { host: orders.localhost, prefix: /api/admin, credential: token, methods: [GET, POST] }
  - { host: orders.localhost, prefix: /svc, credential: deny }
  - { host: crm.localhost, prefix: /api, credential: token, rewrite: /crm }
  - { host: intranet.example, prefix: /companies, credential: token }`;

/** HAProxy requires the target's host in `Host`, too. */
const isAbsolute = ({ bytes }: Generated) => /^\S+ http:/.test(bytes);
/** HAProxy refuses a body in a GET of HTTP/1.0. */
const isOld = ({ bytes }: Generated) => /^.* HTTP\/1\.0\r\n/.test(bytes);
/** HAProxy merges these lines; bearerd refuses them. */
const hasEqualLines = ({ bytes }: Generated) =>
  /\r\n(?:content-length: (\d+), \1|(host|content-length): (\S+)\r\n(?:.*\r\n)*?\2: \3)\r\n/i.test(bytes);
/** HAProxy repairs folded lines, and lines that end with LF alone. */
const isPutInOrder = ({ bytes }: Generated) => /\r\n |[^\r]\n/.test(bytes);

/** Undefined if both give the same. */
async function difference(pair: Pair, request: Generated): Promise<string | undefined> {
  const alone = await seen(pair, pair.port, request);
  const both = await seen(pair, pair.front, request);
  const text = (of: Seen) => JSON.stringify(of, null, 1);
  if (text(alone) === text(both)) return undefined;
  if (refusedByParser(both) && (alone.upstream.length === 0 || isAbsolute(request) || isOld(request)))
    return undefined;
  if (hasEqualLines(request) || isPutInOrder(request)) return undefined;
  return `${request.bytes.slice(0, 900)}\nalone: ${text(alone)}\npair: ${text(both)}`;
}

/** The first requests on which the pair decides otherwise. */
async function differences(
  pair: Pair,
  requests: Iterable<readonly [name: string, Generated]>,
): Promise<string[]> {
  const found: string[] = [];
  for (const [name, request] of requests) {
    const why = await difference(pair, request);
    if (why !== undefined) found.push(`${name} ${why}`);
    if (found.length > 5) break;
  }
  return found;
}

t.test(
  'HAProxy and bearerd decide as bearerd alone does',
  { skip: NO_HAPROXY, timeout: LIMIT_MS },
  async (t) => {
    const pair = await pairFor(t, { yaml: YAML, basePath: '/v2', credentials: 2 });
    const { upstream } = pair;
    upstream.onRequest = answer;

    await t.test('for generated requests', { timeout: LIMIT_MS }, async (t) => {
      const seeds = SEED === undefined ? Array.from({ length: CASES }, (_, i) => i) : [Number(SEED)];
      const byBearerd = pair.requests().length;
      const requests = seeds.map((seed) => [`SEED=${seed}`, generate(seed, upstream.url)] as const);
      t.same(await differences(pair, requests), []);
      const fast = 2 * seeds.length - (pair.requests().length - byBearerd);
      if (SEED === undefined) t.ok(fast > seeds.length / 5, `${fast} of ${seeds.length} went past bearerd`);
    });

    await t.test('for a second line of every header that may have only one', async (t) => {
      const requests = SINGLE.flatMap((line) =>
        [line, `${line.split(':')[0]}: other`].map((second): readonly [string, Generated] => {
          const bytes = `GET /api/x HTTP/1.1\r\nHost: localhost\r\n${line}\r\n${second}\r\n\r\n`;
          return [line, { method: 'GET', bytes }];
        }),
      );
      t.same(await differences(pair, requests), []);
    });

    await t.test('for each version of HTTP', async (t) => {
      const requests = ['0.9', '1.0', '1.1', '1.2', '1.9', '2.0', '3.1'].flatMap((version) =>
        ['GET', 'POST'].map((method): readonly [string, Generated] => {
          const lines = [`${method} /api/x HTTP/${version}`, 'Host: localhost', 'Content-Length: 0', '', ''];
          return [version, { method, bytes: lines.join('\r\n') }];
        }),
      );
      t.same(await differences(pair, requests), []);
      const { upstream } = await seen(pair, pair.front, requests.at(-1)![1]);
      t.same(upstream, [], 'only 1.0 and 1.1 reach the upstream');
    });

    await t.test('for each spelling of a path that is closed, or has another route', async (t) => {
      const requests: (readonly [string, Generated])[] = [];
      for (const path of ['/api/admin', '/companies', SESSION_PATH, `/svc${SESSION_PATH}`]) {
        const characters = [...path];
        characters.forEach((character, i) => {
          const all = spellingsOf(character);
          for (const spelling of [all[i % all.length]!, all[(i * 5 + 3) % all.length]!]) {
            const host = ['localhost', 'orders.localhost', 'crm.localhost'][requests.length % 3];
            const target = characters.with(i, spelling).join('') + ['', '/', '/x', '.json', ';x'][i % 5];
            requests.push([
              path,
              { method: 'GET', bytes: `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n` },
            ]);
          }
        });
      }
      t.ok(requests.length >= 100);
      t.same(await differences(pair, requests), []);
    });
  },
);
