import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Event } from '../../src/base/events.ts';
import { Secret } from '../../src/base/secret.ts';
import { runtimeCommand } from '../../src/integrations/haproxy/runtime-api.ts';
import { Sinks } from '../../src/integrations/sinks.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gatewayFor } from '../support/gateway.ts';
import { haproxyFor, NO_HAPROXY } from '../support/haproxy.ts';
import { until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream } from '../support/raw-upstream.ts';

// Places outside of the process that hold a credential as long as it may be sent.

/** @returns undefined if there is no such file; it may go at any time */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const refusal = () => head('401 Unauthorized', 'content-length: 0');

const sdsValue = (path: string): string | undefined => {
  const text = read(path);
  if (text === undefined) return undefined;
  const [secret] = JSON.parse(text).resources;
  return secret.generic_secret.secret.inline_string;
};

t.test(
  'a file sink holds the token alone, changes with each renewal, and is removed at the end',
  async (t) => {
    const dir = t.testdir();
    const path = join(dir, 'token');
    writeFileSync(path, 'left by a run that was killed');
    const upstream = await RawUpstream.startedFor(t);
    const yaml = `sinks: [{ file: ${path} }]`;
    const env = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
    const { gateway, adminPort } = await gatewayFor(t, { baseUrl: upstream.url, yaml, env });
    await until(() => read(path) === 'tok-1', 'no token in the file');
    t.equal(lstatSync(path).mode & 0o777, 0o600);
    await fetch(`http://127.0.0.1:${adminPort}/renew`, { method: 'POST' });
    await until(() => read(path) === 'tok-2', 'no second token in the file');
    // The write is counted a moment after the file changed.
    let metrics = '';
    await until(async () => {
      metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      return new RegExp(`bearerd_sink_writes_total{sink="file:${path}",result="ok"} [23]\n`).test(metrics);
    }, 'the writes are not counted');
    t.match(metrics, `bearerd_sink_writes_total{sink="file:${path}",result="failed"} 0\n`);
    await gateway.drain(1_000, 'SIGTERM');
    t.same(readdirSync(dir), [], 'no other file is left');
  },
);

/** How long the second token stays in the sinks. The first is refused, and there is no third. */
async function heldMs(t: Test, dir: string, lifetimeS: number): Promise<number> {
  mkdirSync(dir);
  const upstream = await RawUpstream.startedFor(t);
  const path = join(dir, 'token');
  const sds = join(dir, 'sds.json');
  const yaml = `sinks: [{ file: ${path} }, { envoySds: ${sds}, name: bearer }]`;
  const { get } = await gatewayFor(t, { baseUrl: upstream.url, yaml });
  await until(() => read(path) === 'tok-1' && sdsValue(sds) === 'Bearer tok-1', 'no token');
  upstream.onRequest = ({ header }) => (header('authorization') === 'Bearer tok-1' ? refusal() : ok('ok'));
  let seen: unknown[] | undefined;
  let grantedMs = 0;
  upstream.onLogin = async () => {
    upstream.onLogin = () => head('500 No', 'content-length: 0');
    await until(() => read(path) === undefined && sdsValue(sds) === '', 'the rejected token stays');
    seen = [read(path), sdsValue(sds)];
    grantedMs = performance.now();
    return grant('tok-2', lifetimeS);
  };
  t.equal((await get('/')).status, 200, 'the request is sent again with a new token');
  t.same(seen, [undefined, '']);
  await until(() => read(path) === 'tok-2', 'no second token in the file');
  await until(() => read(path) === undefined && sdsValue(sds) === '', 'the expired token stays');
  return performance.now() - grantedMs;
}

t.test('a token that has expired, or that the upstream rejected, is removed from every sink', async (t) => {
  const dir = t.testdir();
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 3 && least >= 8_000; n++)
    least = Math.min(least, await heldMs(t, join(dir, `${n}`), 8));
  t.ok(least < 8_000, 'at least once the machine was fast enough to remove the token before its end');
});

t.test(
  'a file that was removed, overwritten or made readable to others is written again without a renewal',
  async (t) => {
    const dir = t.testdir();
    const upstream = await RawUpstream.startedFor(t);
    const [path, sds] = [join(dir, 'token'), join(dir, 'sds.json')];
    const yaml = `sinks: [{ file: ${path} }, { envoySds: ${sds}, name: bearer }]`;
    await gatewayFor(t, { baseUrl: upstream.url, yaml });
    const isRight = () =>
      read(path) === 'tok-1' && sdsValue(sds) === 'Bearer tok-1' && (lstatSync(path).mode & 0o777) === 0o600;
    await until(isRight, 'no token');
    const harms = [
      (name: string) => rmSync(name),
      (name: string) => writeFileSync(name, '{"resources":[{"generic_secret":{"secret":{}}}]}'),
      (name: string) => chmodSync(name, 0o644),
      (name: string) => {
        writeFileSync(join(dir, 'other'), 'tok-0');
        renameSync(join(dir, 'other'), name);
      },
    ];
    for (const harm of harms) {
      for (const name of [path, sds]) harm(name);
      t.notOk(existsSync(sds) && existsSync(path) && isRightNow());
      await until(() => read(sds)?.startsWith('{') && isRight(), 'the file was not written again');
    }
    t.equal(upstream.logins, 1);

    function isRightNow(): boolean {
      return read(path) === 'tok-1' && (lstatSync(path).mode & 0o777) === 0o600;
    }
  },
);

t.test('a short-lived token stays until the next one is due, and is removed before its end', async (t) => {
  const path = join(t.testdir(), 'token');
  const clock = new FakeClock();
  const endMonoMs = clock.monoMs() + 4_000;
  const secret = new Secret('tok-1');
  const sinks = new Sinks({
    sinks: [{ kind: 'file', path, credential: 'token' }],
    present: () => ({
      headerValue: secret,
      value: secret,
      usableMs: endMonoMs - clock.monoMs(),
      lifetimeMs: 4_000,
    }),
    listenForRetries: async () => {},
    clock,
    observe: () => {},
  });
  // A check has ended when the loop sleeps again.
  const at = async (ms: number) => {
    await clock.advance(ms - 4_000 + (endMonoMs - clock.monoMs()));
    await until(() => clock.sleeping === 1, 'the check did not end');
    return read(path);
  };
  t.equal(await at(0), 'tok-1');
  t.equal(await at(3_500), 'tok-1', 'a renewal begins at 3.2 s at the latest, and has time to end');
  t.equal(await at(3_850), undefined);
  await sinks.close();
});

t.test(
  'the file for Envoy exists before the first token, and has the message that Envoy reads',
  async (t) => {
    const path = join(t.testdir(), 'sds.yaml');
    const upstream = await RawUpstream.startedFor(t);
    upstream.onLogin = () => head('500 No', 'content-length: 0');
    const yaml = `
credentials: { key: { type: apiKey, key: "k\u00e9y \\"x\\"", header: X-Key, scheme: '' } }
routes: [{ prefix: /, credential: token }]
sinks: [{ envoySds: ${path}, name: bearer }, { envoySds: ${path}.json, name: key, credential: key }]`;
    const { gateway } = await gatewayFor(t, { baseUrl: upstream.url, yaml, loggedIn: false });
    await until(() => existsSync(path) && existsSync(`${path}.json`), 'no file');
    t.same(JSON.parse(readFileSync(path, 'utf8')), {
      resources: [
        {
          '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
          name: 'bearer',
          generic_secret: { secret: { inline_string: '' } },
        },
      ],
    });
    t.equal(sdsValue(`${path}.json`), 'k\u00e9y "x"');
    t.equal(lstatSync(path).mode & 0o777, 0o600);
    const { ino } = lstatSync(path);
    upstream.onLogin = () => grant('tok-1');
    await until(() => sdsValue(path) === 'Bearer tok-1', 'no token');
    t.not(lstatSync(path).ino, ino, 'the file is replaced by a rename');
    await gateway.drain(1_000, 'SIGTERM');
    t.equal(sdsValue(path), '');
    t.equal(sdsValue(`${path}.json`), '');
  },
);

t.test('symbolic links are replaced, never followed', async (t) => {
  const dir = t.testdir({ other: 'somebody else' });
  const path = join(dir, 'token');
  symlinkSync(join(dir, 'other'), path);
  symlinkSync(join(dir, 'other'), join(dir, '.token.bearerd'));
  const upstream = await RawUpstream.startedFor(t);
  await gatewayFor(t, { baseUrl: upstream.url, yaml: `sinks: [{ file: ${path} }]` });
  await until(() => read(path) === 'tok-1', 'no token in the file');
  t.ok(lstatSync(path).isFile());
  t.equal(read(join(dir, 'other')), 'somebody else');
});

t.test('a failing sink disturbs nothing, is reported once, and is tried again', async (t) => {
  const dir = t.testdir();
  const hung = createServer(() => {}).listen(join(tmp(t), 'hung'));
  t.teardown(() => hung.close());
  const upstream = await RawUpstream.startedFor(t);
  const yaml = `sinks: [{ file: ${dir}/later/token }, { haproxy: 'unix:${hung.address()}', map: /m }]`;
  const { gateway, events, get } = await gatewayFor(t, { baseUrl: upstream.url, yaml });
  const failures = (sink: string) =>
    events.filter((e) => e.type === 'sink-failed' && e.sink.startsWith(sink));
  await until(() => failures('file').length > 1 && failures('haproxy').length > 0, 'no failure');
  t.same(
    failures('file')
      .map((e) => e.type === 'sink-failed' && [e.code, e.again])
      .slice(0, 2),
    [
      ['ENOENT', false],
      ['ENOENT', true],
    ],
  );
  t.match(failures('haproxy')[0], { code: 'ETIMEDOUT', again: false });
  t.equal((await get('/')).status, 200);
  mkdirSync(join(dir, 'later'));
  await until(() => read(join(dir, 'later/token')) === 'tok-1', 'the sink was not tried again');
  await gateway.drain(1_000, 'SIGTERM');
  t.notMatch(JSON.stringify(events), /tok-1/);
});

t.test('a sink that hangs holds up the end for two seconds at most, and is reported', async (t) => {
  const clock = new FakeClock();
  const events: Event[] = [];
  const path = join(t.testdir(), 'no-haproxy');
  const sinks = new Sinks({
    sinks: [{ kind: 'haproxy', path, map: '/m', credentials: [] }],
    present: () => undefined,
    listenForRetries: () => new Promise(() => {}),
    clock,
    observe: (event) => events.push(event),
  });
  const closed = sinks.close();
  await clock.advance(1_999);
  t.same(events, []);
  await clock.advance(1);
  await closed;
  t.same(events, [{ type: 'sink-failed', sink: `haproxy:${path}`, code: 'ETIMEDOUT', again: false }]);
});

/** A short path, as a socket needs one. */
function tmp(t: Test): string {
  const dir = join(tmpdir(), `bearerd-${process.pid}`);
  mkdirSync(dir, { recursive: true });
  t.teardown(async () => (await import('node:fs/promises')).rm(dir, { recursive: true, force: true }));
  return dir;
}

t.test("HAProxy's map has the present credentials, also after a restart", { skip: NO_HAPROXY }, async (t) => {
  const dir = tmp(t);
  const [socket, map, file] = [join(dir, 's'), join(dir, 'm'), join(dir, 'cfg')];
  writeFileSync(map, '');
  writeFileSync(
    file,
    `global
  stats socket ${socket} mode 600 level admin
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend f
  bind unix@${dir}/f
  http-request set-header x %[str(token),map_str(${map})]
  http-request return status 204
`,
  );
  const entries = async () =>
    (await runtimeCommand(socket, `show map ${map}`).catch(() => ''))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/^0x\S+ /, ''))
      .sort()
      .join('|');
  // The file may exist before HAProxy listens on it, or may be left from the last process.
  const answers = () =>
    runtimeCommand(socket, 'show info').then(
      () => true,
      () => false,
    );
  const started = () => haproxyFor(t, file, answers);
  const haproxy = await started();
  await runtimeCommand(socket, `add map ${map} other theirs`);
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = (login) => grant(`tok;<<\\${login}`);
  const yaml = `
credentials: { key: { type: apiKey, key: 'a; show "map" \\ x', header: X-Key, scheme: '' } }
routes: [{ prefix: /, credential: token }, { prefix: /key, credential: key }]
sinks: [{ haproxy: 'unix:${socket}', map: ${map} }]`;
  const env = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
  const { gateway, adminPort } = await gatewayFor(t, { baseUrl: upstream.url, yaml, env });
  const key = 'key a; show "map" \\ x';
  const holds = (n: number, other: string) =>
    until(async () => (await entries()) === `${key}|${other}token Bearer tok;<<\\${n}`, `no token ${n}`);
  await holds(1, 'other theirs|');
  await fetch(`http://127.0.0.1:${adminPort}/renew`, { method: 'POST' });
  await holds(2, 'other theirs|');
  await haproxy.stop();
  await started();
  await holds(2, '');
  await gateway.drain(1_000, 'SIGTERM');
  t.equal(await entries(), '');
});
