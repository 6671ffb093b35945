import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { unknownPart } from '../../../src/cli/from-curl/sent-requests.ts';
import { tryBoth } from '../../../src/cli/from-curl/try-both.ts';
import { CWD, loadYaml } from '../../config/load-from.ts';
import { read } from './read.ts';

// The two requests of `--try`.

/** An API that keeps each request, and compresses its answer if it may. */
async function startApi(t: Test) {
  const seen: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }[] = [];
  const api = http.createServer(async (request, response) => {
    const { headers } = request;
    const body = await text(request);
    seen.push({ method: request.method!, url: request.url!, headers, body });
    const isCoded = /gzip/.test(headers['accept-encoding'] ?? '');
    if (isCoded) response.setHeader('content-encoding', 'gzip');
    response.end(isCoded ? gzipSync('fine') : 'fine');
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  t.teardown(() => api.close());
  return { seen, url: `http://127.0.0.1:${(api.address() as AddressInfo).port}` };
}

const KEY = "-H 'X-Api-Key: k-1'";

/** What `--try` says of a line. */
async function tried(line: string) {
  const { line: asked, request, yaml, secrets } = read(line);
  const files = Object.fromEntries(secrets.map(({ path, text }) => [join(CWD, path), text]));
  return tryBoth(asked, request, await loadYaml(yaml, {}, files));
}

type Sent = readonly [given: string, sent: { url?: string; body?: string; headers?: object }];

t.test('--try sends what curl sends, by both ways', async (t) => {
  const { seen, url } = await startApi(t);
  const form = 'application/x-www-form-urlencoded';
  const SENT: readonly Sent[] = [
    [
      '-A me -e "http://a;auto" -r 0-3',
      { headers: { 'user-agent': 'me', referer: 'http://a', range: 'bytes=0-3' } },
    ],
    [
      "-A me -H 'user-agent: you' -r 0-3 -H 'Range: bytes=4-'",
      { headers: { 'user-agent': 'you', range: 'bytes=4-' } },
    ],
    ['', { headers: { accept: '*/*', range: undefined, 'content-type': undefined }, body: '' }],
    ["-H 'Accept:' -H 'X-A;'", { headers: { accept: undefined, 'x-a': '' } }],
    ['-X GET -d q=1 -d r=2', { headers: { 'content-type': form, 'content-length': '7' }, body: 'q=1&r=2' }],
    ['-X GET -d q=1 -r 0-3', { headers: { 'content-range': 'bytes 0-3/3', range: undefined } }],
    [
      "-X GET -d '{}' -H 'Content-Type: text/plain'",
      { headers: { 'content-type': 'text/plain' }, body: '{}' },
    ],
    [
      "-X GET -d a -H 'Content-Type:' -H 'Transfer-Encoding: chunked'",
      { headers: { 'content-type': undefined }, body: 'a' },
    ],
    [
      `-X GET --json '{"a":' --json 1}`,
      { headers: { 'content-type': 'application/json', accept: 'application/json' }, body: '{"a":1}' },
    ],
    ["-X GET --data-urlencode 'a=b c(é)'", { body: 'a=b+c%28%C3%A9%29' }],
    ["-G -d 'a&b=&c' --data-urlencode 'd@e=f g' --url-query +h+i", { url: '/x?h+i&a&b=&c&d@e=f+g' }],
  ];
  for (const [given, sent] of SENT) {
    seen.length = 0;
    t.match(await tried(`curl ${url}/x ${KEY} ${given}`), { equal: true }, given);
    t.equal(seen.length, 2, given);
    for (const request of seen) {
      const { headers = {}, ...rest } = sent;
      t.match(request, { method: 'GET', url: '/x', ...rest }, given);
      for (const [name, value] of Object.entries(headers))
        t.equal(request.headers[name], value, `${given}: ${name}`);
    }
  }
});

t.test('--try compares what codings hold, and sends the line what the printed call lacks', async (t) => {
  const { seen, url } = await startApi(t);
  const headersWith = async (given: string) => {
    seen.length = 0;
    const { equal, words } = await tried(`curl '${url}/a/../x?t' ${KEY} ${given}`);
    t.ok(equal, given);
    t.match(words, 'body: equal (4 bytes)', given);
    t.equal(seen.at(-1)?.url, '/x?t', given);
    return seen.map(({ headers }) => headers);
  };
  t.match((await headersWith('--compressed'))[0], { 'accept-encoding': 'deflate, gzip, br' });
  t.match((await headersWith("-H 'Accept-Encoding: gzip, br;q=0.5, zstd'"))[0], {
    'accept-encoding': 'gzip, br;q=0.5',
  });
  const [direct, proxied] = await headersWith("-H 'Host: h' -H 'Origin: http://o' -H 'Cookie: a=b' -b c=d");
  t.match(direct, { host: 'h', origin: 'http://o', cookie: 'a=b' });
  t.match(proxied, { host: new URL(url).host, origin: undefined, cookie: undefined });
  await headersWith('--request-target /t');
  t.equal(seen[0]?.url, '/t');
});

t.test('a part of the request that does not stand in the line is known', async (t) => {
  const FILES = ['-d @f', '--json @f', '--data-urlencode a@f', '-G -d @f', '--url-query a@f', '-b f'];
  for (const given of [...FILES, '-F a=b', '-T f', '-z f', '-C -', '--etag-compare f']) {
    const flag = given.replace(/^-G /, '').replace(/ .*/, '');
    t.equal(unknownPart(read(`curl https://h/ ${KEY} ${given}`).line), flag, given);
  }
  const WHOLE = ['--data-raw @f', '--data-urlencode a@b=c', '--url-query +a@b', '-b a=b', "-b ''", '-A @f'];
  for (const given of WHOLE)
    t.equal(unknownPart(read(`curl https://h/ ${KEY} ${given}`).line), undefined, given);
});
