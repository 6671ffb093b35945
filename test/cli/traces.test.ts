import t, { type Test } from 'tap';
import { MAIN, start } from '../support/cli.ts';
import { request } from '../support/gateway.ts';
import { CA_FILE } from '../support/h2-upstream.ts';
import { OtlpCollector } from '../support/otlp-collector.ts';
import { ask, until } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// Tracing by the variables of OpenTelemetry, as a process: what is loaded, what is logged, and how it stops.

const TRACEPARENT = 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
/** The wait for a hanging collector is longer than a test's usual wait for the end of a process. */
const OTEL_WAITS = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000' };

async function running(t: Test, env: Record<string, string>) {
  t.testdir({});
  const upstream = await RawUpstream.startedFor(t);
  const proxy = start(t, ['start'], {
    BEARERD_BASE_URL: upstream.url,
    BEARERD_API_KEY: 'canary-api-key',
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: 'off',
    ...env,
  });
  const [, port] = await proxy.until(/listening on http:\/\/127\.0\.0\.1:(\d+)"/);
  const get = (...lines: string[]) => ask(Number(port), request('GET', '/x?canary-query', ...lines));
  const stop = async () => {
    proxy.child.kill('SIGTERM');
    const { code } = await proxy.finished;
    return code;
  };
  return { upstream, proxy, get, stop };
}

t.test(
  'the variables of OpenTelemetry set the collector, the resource attributes and the headers',
  async (t) => {
    const collector = await OtlpCollector.startedFor(t);
    const { upstream, proxy, get, stop } = await running(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=canary-otlp',
      OTEL_SERVICE_NAME: 'sidecar',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=not-this',
    });
    t.equal((await get(TRACEPARENT)).status, 200);
    t.equal(await stop(), 0);
    t.equal(collector.spans.length, 2, 'spans are sent at the stop at the latest');
    t.match(collector.requests[0], { path: '/otlp/v1/traces', headers: { 'x-api-key': 'canary-otlp' } });
    t.equal(collector.requests[0]!.headers.authorization, undefined);
    for (const { resource } of collector.spans)
      t.match(resource, { 'service.name': 'sidecar', 'deployment.environment.name': 'test' });
    t.match(upstream.last.header('traceparent'), /^00-0af7651916cd43dd8448eb211c80319c-/);
    t.match(proxy.output(), /"collector":"[^"]+\/otlp\/v1\/traces","msg":"each request is traced"/);
    t.match(proxy.output(), /"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"[0-9a-f]{16}"/);
    t.notMatch(proxy.output() + collector.requests.map(({ text }) => text).join(), /canary/);
  },
);

t.test('a collector that hangs delays the stop by some seconds at most', async (t) => {
  const collector = await OtlpCollector.startedFor(t);
  collector.answer = 'hangs';
  const { proxy, get, stop } = await running(t, {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/here`,
    ...OTEL_WAITS,
  });
  t.equal((await get()).status, 200);
  t.equal(await stop(), 0);
  t.equal(collector.requests[0]?.path, '/here');
  t.match(
    proxy.output(),
    /"warn".*traces are lost, and requests go on: the collector did not answer before bearerd stopped/,
  );
});

t.test('a collector that cannot be reached, or fails, is logged once, in words', async (t) => {
  const collector = await OtlpCollector.startedFor(t);
  collector.answer = 500;
  const broken = await running(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  for (let n = 1; n <= 3; n++) {
    t.equal((await broken.get()).status, 200);
    await until(() => collector.requests.length >= n, 'an export');
  }
  t.equal(await broken.stop(), 0);
  t.equal(broken.proxy.output().match(/traces are lost/g)?.length, 1);
  t.match(broken.proxy.output(), /the collector answers with the status 500"/);

  collector.stop();
  const dead = await running(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  for (let n = 0; n < 3; n++) t.equal((await dead.get()).status, 200);
  await dead.proxy.until(/the collector can't be reached: nothing listens at its address and port"/);
  t.equal(await dead.stop(), 0);
  t.equal(dead.proxy.output().match(/traces are lost/g)?.length, 1);
});

t.test('the collector’s certificate is verified, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async (t) => {
  for (const [certificate, env, said] of [
    ['server', { OTEL_EXPORTER_OTLP_CERTIFICATE: CA_FILE }, undefined],
    ['server', {}, /the collector can't be trusted: an authority that this machine doesn't know/],
    [
      'expired',
      { OTEL_EXPORTER_OTLP_CERTIFICATE: CA_FILE },
      /the collector can't be trusted: .* has expired/,
    ],
  ] as const) {
    const collector = await OtlpCollector.startedFor(t, certificate);
    const { proxy, get, stop } = await running(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      ...env,
    });
    t.equal((await get()).status, 200);
    t.equal(await stop(), 0);
    t.equal(collector.requests.length, said === undefined ? 1 : 0);
    if (said !== undefined) t.match(proxy.output(), said);
  }
});

t.test(
  'a setting of OpenTelemetry that cannot be used is logged at the start, and the proxy serves without traces',
  async (t) => {
    for (const [env, said] of [
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
        /no traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL/,
      ],
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'canary' },
        /no traces are sent: OTEL_EXPORTER_OTLP_ENDPOINT is not a URL/,
      ],
      [
        {
          OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:1',
          OTEL_EXPORTER_OTLP_CERTIFICATE: 'not-there.pem',
        },
        /"path":"not-there.pem","code":"ENOENT","msg":"no traces are sent/,
      ],
    ] as const) {
      const { upstream, proxy, get, stop } = await running(t, env);
      t.equal((await get(TRACEPARENT)).status, 200);
      t.same(upstream.last.all('traceparent'), [TRACEPARENT.slice('traceparent: '.length)]);
      t.equal(await stop(), 0);
      t.match(proxy.output(), said);
      t.notMatch(proxy.output(), /canary/);
    }
  },
);

t.test('without traces nothing of OpenTelemetry is loaded, and traceparent passes as sent', async (t) => {
  const hook = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    // prom-client loads the API, except in the bundle (test/stand-ins.test.ts).
    const ours = !context.parentURL?.includes('/prom-client/') && !context.parentURL?.includes('/@opentelemetry/api/');
    if (ours && /opentelemetry|[/]otel[/]/.test(specifier)) process.stderr.write('LOADED ' + specifier + '\\n');
    return next(specifier, context);
  },
});`;
  const hooked = {
    NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(hook).toString('base64')}`,
  };
  const collector = await OtlpCollector.startedFor(t);
  for (const [env, loads] of [
    [{}, 0],
    [{ OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_ENDPOINT: '' }, 0],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' }, 1],
  ] as const) {
    const { upstream, proxy, get, stop } = await running(t, { ...hooked, ...env });
    await get('traceparent: anything');
    t.same(upstream.last.all('traceparent'), ['anything']);
    await stop();
    // Bundled modules have other names: test/bundle.test.ts checks those.
    if (MAIN.endsWith('.ts')) t.equal(proxy.output().match(/LOADED /g)?.length ?? 0, loads);
    t.notMatch(proxy.output(), /LOADED @|trace_id/);
  }
  t.equal(collector.requests.length, 0);
});

t.test('exec sends its traces before it ends, and does not wait for a collector that hangs', async (t) => {
  t.testdir({});
  const upstream = await RawUpstream.startedFor(t);
  const collector = await OtlpCollector.startedFor(t);
  const call = `fetch(process.env.BEARERD_URL + '/x').then((r) => process.exit(r.status === 200 ? 7 : 1))`;
  for (const answer of [200, 'hangs'] as const) {
    collector.answer = answer;
    const { code, stderr } = await start(t, ['exec', '--', process.execPath, '-e', call], {
      BEARERD_BASE_URL: upstream.url,
      BEARERD_API_KEY: 'canary-api-key',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ...OTEL_WAITS,
    }).finished;
    t.equal(code, 7, stderr);
  }
  t.equal(collector.spans.length, 2);
});
