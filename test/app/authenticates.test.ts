import http from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { gatewayFor } from '../support/gateway.ts';
import { STILL_MS } from '../support/machine-load.ts';
import { until, within } from '../support/raw-client.ts';
import { share } from '../support/share.ts';
import { API_KEY, CLIENT_ID, CLIENT_SECRET, type StrictApi, startStrictApi } from '../support/strict-api.ts';

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

async function set(
  test: Test,
  lifetimeMs: number,
  env: Record<string, string> = {},
  prepare?: (api: StrictApi) => void,
) {
  const api = await startStrictApi(lifetimeMs);
  prepare?.(api);
  test.teardown(() => api.close());
  const { gateway } = await gatewayFor(test, {
    baseUrl: api.url,
    env: {
      BEARERD_CLIENT_ID: CLIENT_ID,
      BEARERD_CLIENT_SECRET: CLIENT_SECRET,
      BEARERD_API_KEY: API_KEY,
      BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
      ...env,
    },
    loggedIn: false,
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  test.teardown(() => agent.destroy());
  const ask = (method: string, path: string, body?: string, headers: http.OutgoingHttpHeaders = {}) =>
    send(`${gateway.urls[0]}${path}`, method, agent, body, headers);
  return {
    api,
    gateway,
    ask,
    admin: (path: string, method = 'GET') => send(`${gateway.adminUrls[0]}${path}`, method, agent),
  };
}

function send(
  url: string,
  method: string,
  agent: http.Agent,
  body?: string,
  headers: http.OutgoingHttpHeaders = {},
) {
  const answer = new Promise<Answer>((resolve, reject) => {
    const request = http.request(url, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: text }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
  return within(60_000, answer, () => `no answer to ${method} ${url}`);
}

const codeOf = (answer: Answer) => (JSON.parse(answer.body) as { code?: string }).code;

t.test(
  'thousands of mixed requests through five renewals arrive with exactly one credential, the right one, unexpired',
  async (t) => {
    const { api, ask, gateway } = await set(t, 3_000, {
      BEARERD_ROUTES: '/=token,/companies=apiKey,/health=none,/api/admin=deny',
    });
    const total = share(10_000);
    const kinds = [
      { path: '/api/people/v1/o_1/find', method: 'POST', want: 'token' },
      { path: '/companies/acme', method: 'GET', want: 'apiKey' },
      { path: '/health', method: 'GET', want: 'none' },
      { path: '/api/admin/users', method: 'GET', want: 'deny' },
      { path: '/api/other', method: 'GET', want: 'token' },
    ] as const;
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    t.teardown(() => delay.disable());
    const endMs = performance.now() + 600_000;
    let sent = 0;
    const wrong: string[] = [];
    const worker = async () => {
      while ((sent < total || api.tokens.size < 6) && performance.now() < endMs) {
        const n = sent++;
        const { path, method, want } = kinds[n % kinds.length]!;
        const body = method === 'POST' ? JSON.stringify({ n }) : undefined;
        const answer = await ask(method, `${path}?n=${n}`, body, { authorization: 'Bearer of-the-client' });
        if (want === 'deny' ? codeOf(answer) !== 'route-denied' : answer.status !== 200) {
          wrong.push(`${n} ${path}: ${answer.status} ${answer.body}`);
        }
        // Spread over the renewals, whatever the machine's speed.
        if (n > (total / 5) * api.tokens.size) await sleep(100);
      }
    };
    await Promise.all(Array.from({ length: 32 }, worker));

    t.same(wrong, [], 'each request was answered by the upstream, or by the deny route');
    t.ok(sent >= total && api.tokens.size >= 6, `${sent} requests, ${api.tokens.size} tokens`);
    const denied = Math.ceil((sent - 3) / 5);
    t.equal(api.arrivals.length, sent - denied, 'no request was lost or sent twice');
    // Proxy and API are one process: while that stands still, a token that was alive when it was sent may end.
    const lateMs = delay.max / 1e6;
    const faults = api.arrivals.filter(({ url, authorization, atMs }) => {
      if (url.startsWith('/health')) return authorization.length !== 0;
      const [value = ''] = authorization;
      if (authorization.length !== 1) return true;
      if (url.startsWith('/companies')) return value !== `Bearer ${API_KEY}`;
      const dies = api.tokens.get(value.replace('Bearer ', ''));
      return dies === undefined || atMs >= dies + (lateMs < STILL_MS ? 0 : lateMs);
    });
    t.same(faults, [], 'each request had exactly one credential, unexpired');
    t.equal(new Set(api.arrivals.map(({ url }) => url)).size, api.arrivals.length);
    t.equal(gateway.inFlight, 0);
  },
);

t.test('a cold start under 100 parallel requests logs in once', async (t) => {
  const { api, ask } = await set(t, 900_000, {}, (api) => {
    api.session.delayMs = 300;
  });
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask('GET', `/x/${n}`)));
  t.ok(answers.every(({ status }) => status === 200));
  t.equal(api.logins, 1);
});

t.test(
  'while the session endpoint is down requests wait and then get 503; the proxy recovers by itself',
  async (t) => {
    const { api, ask, admin } = await set(t, 900_000, { BEARERD_TOKEN_WAIT: '700ms' }, (api) => {
      api.session.down = true;
    });
    const started = performance.now();
    const answer = await ask('GET', '/x');
    t.ok(performance.now() - started >= 690, 'it waited');
    t.equal(answer.status, 503);
    t.equal(codeOf(answer), 'token-unavailable');
    t.match(answer.headers['retry-after'], /^[1-9]\d*$/);
    t.equal(answer.headers['content-type'], 'application/problem+json');
    t.match(answer.headers['proxy-status'], /^bearerd; error=/);
    t.equal((await ask('GET', '/health?')).status, 503);
    t.equal((await admin('/readyz')).status, 503);
    t.equal((await admin('/healthz')).status, 200);
    t.equal(api.arrivals.length, 0, 'no request went upstream without a token');
    api.session.down = false;
    await until(async () => (await admin('/readyz')).status === 200, 'the proxy does not recover');
    t.equal((await ask('GET', '/x')).status, 200);
  },
);

t.test('API key routes work while there is no token', async (t) => {
  const { ask } = await set(t, 900_000, { BEARERD_ROUTES: '/=token,/companies=apiKey' }, (api) => {
    api.session.status = 401;
  });
  t.equal((await ask('GET', '/companies/x')).status, 200);
});

t.test('refused credentials give 503 login-refused at once, and POST /renew gives the reason', async (t) => {
  const { api, ask, admin } = await set(t, 900_000, {}, (api) => {
    api.session.status = 401;
  });
  const answer = await ask('GET', '/x');
  t.equal(codeOf(answer), 'login-refused');
  t.ok(Number(answer.headers['retry-after']) >= 25);
  const again = await ask('GET', '/x');
  t.equal(codeOf(again), 'login-refused');
  t.equal(api.logins, 1, 'client traffic causes no login');
  const ready = JSON.parse((await admin('/readyz')).body);
  t.equal(ready.credentials.token.state, 'refused');
  const renewed = await admin('/renew', 'POST');
  t.equal(renewed.status, 502);
  t.match(JSON.parse(renewed.body).failed.token, /refuses the credentials \(status 401\)/);
  api.session.status = 200;
  t.equal((await admin('/renew', 'POST')).status, 200);
  t.equal((await ask('GET', '/x')).status, 200);
});

t.test('the admin listener shows states and counts, and no secret', async (t) => {
  const { api, ask, admin } = await set(t, 900_000, { BEARERD_ROUTES: '/=token,/companies=apiKey' });
  await ask('GET', '/x/1?access_token=QUERYSECRET');
  await ask('GET', '/companies/2');
  const texts = await Promise.all(
    ['/readyz', '/status', '/metrics', '/', '/nowhere', '/requests', '/configuration'].map(
      async (path) => (await admin(path)).body,
    ),
  );
  const [, status = '', metrics = '', page = '', nowhere = ''] = texts;
  const parsed = JSON.parse(status);
  t.match(parsed, {
    version: /^\d/,
    ready: true,
    credentials: {
      token: { kind: 'session', state: 'fresh', lastFailure: null },
      apiKey: { kind: 'api-key' },
    },
    routes: [
      { prefix: '/', requests: 1 },
      { prefix: '/companies', requests: 1 },
    ],
  });
  for (const line of [
    'bearerd_requests_total{route="/",credential="token",method="GET",code="200",caller=""} 1',
    'bearerd_requests_total{route="/companies",credential="apiKey",method="GET",code="200",caller=""} 1',
    'bearerd_logins_total{credential="token",result="ok"} 1',
    'bearerd_requests_in_flight 0',
  ]) {
    t.ok(metrics.includes(line), line);
  }
  for (const name of [
    'bearerd_request_duration_seconds_bucket',
    'bearerd_login_duration_seconds_count',
    'bearerd_token_expiry_timestamp_seconds{credential="token"} 1',
    'bearerd_build_info{',
    'process_resident_memory_bytes',
    'nodejs_',
  ]) {
    t.ok(metrics.includes(name), name);
  }
  t.match(page, /<h2[^>]*>Credentials<\/h2>/);
  t.equal(JSON.parse(nowhere).code, 'no-route');
  t.equal((await admin('/renew')).status, 405);
  const [token = ''] = [...api.tokens.keys()];
  for (const secret of [token, CLIENT_SECRET, API_KEY, 'QUERYSECRET']) {
    t.notOk(
      texts.some((text) => text.includes(secret)),
      'the answer holds no secret',
    );
  }
});

t.test('the number of metric series stays bounded, whatever clients send', async (t) => {
  const { ask, admin } = await set(t, 900_000);
  for (let n = 0; n < 300; n++) await ask('GET', `/some/${n}?q=${n}`);
  const metrics = (await admin('/metrics')).body;
  t.equal(metrics.split('\n').filter((line) => line.startsWith('bearerd_requests_total')).length, 1);
});
