import t, { type Test } from 'tap';
import { inOneProcess } from '../support/one-process.ts';

const call = inOneProcess(t);

// `bearerd render` as a process: what is on stdout goes into a file, and the exit code says whether it may.

const YAML = `
baseUrl: https://api.example.com
credentials: { token: { type: session, clientId: a, clientSecret: the-secret } }
sinks: [{ haproxy: 'unix:/run/bearerd/haproxy.sock', map: /run/bearerd/credentials.map }]`;

const at = (t: Test, yaml: string) => t.testdir({ 'bearerd.yaml': yaml });

t.test('a configuration is on stdout, and nothing else anywhere', async (t) => {
  const { code, stdout, stderr } = await call(t, ['render', 'haproxy'], {}, at(t, YAML));
  t.same([code, stderr], [0, '']);
  t.match(stdout, /bind 127\.0\.0\.1:9182 proto h1\n/);
  t.match(stdout, /server bearerd 127\.0\.0\.1:9180\n$/);
  t.notMatch(stdout, 'the-secret');
});

t.test("--listen is HAProxy's address; bearerd's own is that of its configuration", async (t) => {
  const env = { BEARERD_LISTEN: '127.0.0.1:9300' };
  const { code, stdout } = await call(
    t,
    ['render', 'haproxy', '--listen', '127.0.0.1:8080'],
    env,
    at(t, YAML),
  );
  t.equal(code, 0);
  t.match(stdout, /bind 127\.0\.0\.1:8080 proto h1\n/);
  t.match(stdout, /server bearerd 127\.0\.0\.1:9300\n/);
});

t.test('what can not be rendered is 78 with every reason, and no text', async (t) => {
  const yaml = `${YAML}\ncallerKey: 0123456789abcdef\nlog: { requestIdHeader: X-Id }`;
  const { code, stdout, stderr } = await call(t, ['render', 'haproxy'], {}, at(t, yaml));
  t.same([code, stdout], [78, '']);
  t.match(stderr, /callerKey: .*log\.requestIdHeader: /s);
  const traced = await call(
    t,
    ['render', 'haproxy'],
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' },
    at(t, YAML),
  );
  t.match(traced, { code: 78, stderr: /OTEL_EXPORTER_OTLP_ENDPOINT: HAProxy would begin no traces/ });
  t.match(await call(t, ['render', 'haproxy', '--listen', 'x'], {}, at(t, YAML)), {
    code: 78,
    stderr: /--listen: must be HOST:PORT/,
  });
});

t.test('another program, or none, is a wrong usage', async (t) => {
  t.match(await call(t, ['render', 'envoy'], {}, at(t, YAML)), { code: 64, stderr: /envoy: .*haproxy/ });
  t.match(await call(t, ['render'], {}, at(t, YAML)), { code: 64, stderr: /usage: bearerd render haproxy/ });
});
