import t, { type Test } from 'tap';
import { inOneProcess } from '../support/one-process.ts';

const call = inOneProcess(t);

// `bearerd render` as a process: stdout goes into a file, and the exit code says whether the file is valid.

const YAML = `
baseUrl: https://api.example.com
credentials: { token: { type: session, clientId: a, clientSecret: the-secret } }
sinks: [{ haproxy: 'unix:/run/bearerd/haproxy.sock', map: /run/bearerd/credentials.map }]`;

const at = (t: Test, yaml: string) => t.testdir({ 'bearerd.yaml': yaml });

t.test('render prints the configuration on stdout, and nothing else', async (t) => {
  const { code, stdout, stderr } = await call(t, ['render', 'haproxy'], {}, at(t, YAML));
  t.same([code, stderr], [0, '']);
  t.match(stdout, /bind 127\.0\.0\.1:9182 proto h1\n/);
  t.match(stdout, /server bearerd 127\.0\.0\.1:9180\n$/);
  t.notMatch(stdout, 'the-secret');
});

t.test('--listen is the address of HAProxy; that of bearerd comes from its configuration', async (t) => {
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

t.test('HAProxy binds loopback addresses for a name like localhost, wherever the name leads', async (t) => {
  for (const listen of ['localhost:8080', 'api.LOCALHOST:8080']) {
    const { stdout } = await call(t, ['render', 'haproxy', '--listen', listen], {}, at(t, YAML));
    t.match(stdout, /bind 127\.0\.0\.1:8080 proto h1\n/, listen);
    t.notMatch(stdout, /bind .*localhost/i, listen);
  }
});

t.test(
  'a configuration that cannot be rendered exits 78 with every reason, and prints nothing on stdout',
  async (t) => {
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
  },
);

t.test('an unknown program, or none, is wrong usage', async (t) => {
  t.match(await call(t, ['render', 'envoy'], {}, at(t, YAML)), { code: 64, stderr: /envoy: .*haproxy/ });
  t.match(await call(t, ['render'], {}, at(t, YAML)), { code: 64, stderr: /usage: bearerd render haproxy/ });
});
