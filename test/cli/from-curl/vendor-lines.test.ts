import { mkdirSync, writeFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { readCurlLine } from '../../../src/cli/from-curl/curl-line.ts';
import { requestOf } from '../../../src/cli/from-curl/curl-request.ts';
import { findCredential } from '../../../src/cli/from-curl/found-credential.ts';
import { sameCall } from '../../../src/cli/from-curl/same-call.ts';
import { readShellLine } from '../../../src/cli/from-curl/shell-line.ts';
import { tryBoth } from '../../../src/cli/from-curl/try-both.ts';
import { filesOf } from '../../../src/cli/from-curl/written-files.ts';
import { ConfigurationSource } from '../../../src/config/source.ts';
import { VENDOR_LINES, type VendorLine } from './vendor-lines.ts';

// Lines from public documents: with the configuration from each, bearerd sends what curl would send.

process.env.VENDOR_API_KEY = 'from-the-environment';

/** An API that answers with the value of one header, parameter or cookie of the request. */
function seen(request: IncomingMessage, where: string): string | null {
  const url = new URL(request.url!, 'http://api');
  if (where.startsWith('?')) return url.searchParams.get(where.slice(1));
  const [header = '', cookie] = where.split(' ');
  const value = request.headers[header];
  if (cookie === undefined) return value === undefined ? null : String(value);
  return new RegExp(`(?:^|; )${cookie}=([^;]*)`).exec(String(value))?.[1] ?? null;
}

t.test("the configuration from a vendor's line sends the same credential", async (t) => {
  let asked: VendorLine | undefined;
  const calls: { url: string; seen: string | null }[] = [];
  const api = http.createServer((request, response) => {
    if (request.method === 'POST') {
      response.setHeader('content-type', 'application/json');
      response.end(
        '{"accessToken":"token-of-client-1","access_token":"token-of-client-1","token_type":"Bearer","expires_in":3600}',
      );
    } else {
      calls.push({ url: request.url!, seen: seen(request, asked!.sends[0]) });
      response.end('fine');
    }
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  t.teardown(() => api.close());
  const host = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  for (const vendor of VENDOR_LINES) {
    asked = vendor;
    calls.length = 0;
    const folder = t.testdir({});
    const output = join(folder, 'bearerd.yaml');
    const line = readCurlLine(readShellLine(vendor.line.replace('HOST', host)));
    const request = requestOf(line);
    const found = findCredential(line, request);
    const { yaml, secrets } = filesOf(line, request, found, output);
    mkdirSync(folder, { recursive: true });
    for (const { path, text } of secrets) writeFileSync(path, text);
    writeFileSync(output, yaml);
    const value = vendor.sends[1].replace(/^\w+ /, '');
    const isRun = vendor.line.includes('$(');
    if (vendor.login === undefined && !isRun)
      t.notOk(yaml.includes(value), `${vendor.of}: the secret is not in the file`);
    const call = sameCall(line, request, found, 'localhost:9180');
    t.notOk(call.includes(value), `${vendor.of}: the secret is not in the call`);
    const config = await new ConfigurationSource(process.env, {
      configFile: output,
      flags: {},
      defaults: {},
    }).load();
    if (vendor.login === undefined) {
      if (!isRun) {
        const { equal, words } = await tryBoth(line, request, config);
        t.ok(equal, `${vendor.of}: ${words}`);
        t.same(
          calls.map(({ seen }) => seen),
          [vendor.sends[1], vendor.sends[1]],
          vendor.of,
        );
        continue;
      }
    } else {
      for (const [key, text] of Object.entries(vendor.login))
        t.match(yaml, `    ${key}: ${text}\n`, vendor.of);
      t.equal(call, 'bearerd token');
    }
    const get = { ...line, options: [], expansions: [] };
    const plain = {
      ...request,
      method: 'GET',
      path: '/x',
      headers: [],
      queryText: '',
      query: [],
      cookies: [],
      user: undefined,
      bearer: undefined,
    };
    await tryBoth(get, plain, config);
    t.equal(calls.at(-1)?.seen, vendor.sends[1], vendor.of);
  }
});
