import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { MockApi } from '../../src/mock/mock-api.ts';
import { COMPILED, MAIN, run } from '../support/cli.ts';
import { saidBy } from '../support/internal-errors.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { PassedSocket } from '../support/passed-socket.ts';
import { ask, until, within } from '../support/raw-client.ts';

// The test takes the place of systemd: it holds the sockets, and passes them to one process after the other.

const LIMIT_MS = 60_000;
const GET = 'GET /echo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
const READY = 'GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';

function account(mock: MockApi): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    NODE_NO_WARNINGS: '1',
    ...COMPILED,
    ...accountOf(mock),
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: 'off',
  };
}

interface Started {
  readonly output: () => string;
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** Starts bearerd as systemd does: sockets from descriptor 3 on, and its own process ID in LISTEN_PID. */
function serve(t: Test, env: NodeJS.ProcessEnv, sockets: readonly PassedSocket[]): Started {
  const inherited = sockets.map(({ fd }) => fd);
  const child = spawn('/bin/sh', ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', process.execPath, MAIN, 'start'], {
    env: { ...env, LISTEN_FDS: String(sockets.length) },
    stdio: ['ignore', 'pipe', 'pipe', ...inherited],
  });
  const output = saidBy(t, child);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return within(LIMIT_MS, ended, () => `the process does not end: ${output()}`);
  };
  return { output, stop };
}

function sockets(t: Test, count: number): PassedSocket[] {
  const all = Array.from({ length: count }, () => new PassedSocket());
  t.teardown(() => {
    for (const socket of all) socket.close();
  });
  return all;
}

/** A stand-in for systemd-notify: records its argument and its environment. */
function fakeNotify(
  t: Test,
  first = '',
): {
  readonly PATH: string;
  readonly said: () => string[];
  readonly environment: () => string;
} {
  const dir = t.testdir({});
  const [program, log, variables] = [join(dir, 'systemd-notify'), join(dir, 'said'), join(dir, 'env')];
  writeFileSync(program, `#!/bin/sh\n${first}\nenv > '${variables}'\necho "$1" >> '${log}'\n`);
  chmodSync(program, 0o755);
  return {
    PATH: `${dir}:${process.env.PATH}`,
    said: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    environment: () => readFileSync(variables, 'utf8'),
  };
}

const mock = await mockFor(t);

t.test('the proxy and the admin listener use the passed sockets, by their names', async (t) => {
  const [admin, proxy] = sockets(t, 2) as [PassedSocket, PassedSocket];
  const { output } = serve(t, { ...account(mock), LISTEN_FDNAMES: 'admin:proxy' }, [admin, proxy]);
  await until(() => output().includes('listening on'), 'the proxy does not listen', LIMIT_MS);
  await until(async () => (await ask(admin.port, READY)).status === 200, 'the proxy is not ready', LIMIT_MS);
  t.equal((await ask(proxy.port, GET)).status, 200);
  t.match(
    output(),
    new RegExp(`listening on http://127.0.0.1:${proxy.port}"`),
    'the proxy listens on no other address',
  );
});

t.test(
  'sockets that were passed to another process are ignored, and a socket with an unknown name is refused',
  async (t) => {
    t.testdir({});
    const env = { ...account(mock), LISTEN_FDS: '1' };
    const wrong = await run(t, ['start'], {
      ...env,
      LISTEN_PID: '1',
      BEARERD_LISTEN: 'unix:/nowhere/socket',
    });
    t.equal(wrong.code, 71, 'the configured address is used');
    const [socket] = sockets(t, 1) as [PassedSocket];
    const { stop, output } = serve(t, { ...account(mock), LISTEN_FDNAMES: 'web' }, [socket]);
    await until(() => output().includes('FileDescriptorName'), 'the socket is not refused', LIMIT_MS);
    t.equal(await stop('SIGCONT'), 71);
  },
);

t.test('a passed socket that other machines can reach is refused without a caller key', async (t) => {
  const socket = new PassedSocket('0.0.0.0');
  t.teardown(() => socket.close());
  const { stop, output } = serve(t, account(mock), [socket]);
  await until(
    () => output().includes('can be reached from other machines'),
    'the socket is not refused',
    LIMIT_MS,
  );
  t.equal(await stop('SIGCONT'), 78);
  const keyed = serve(t, { ...account(mock), BEARERD_CALLER_KEY: 'caller-key' }, [socket]);
  await until(
    () => keyed.output().includes('listening on'),
    'the proxy does not listen with a caller key',
    LIMIT_MS,
  );
  t.equal((await ask(socket.port, GET)).status, 407);
});

t.test('systemd gets READY=1, WATCHDOG=1 and STOPPING=1', async (t) => {
  const [socket] = sockets(t, 1) as [PassedSocket];
  const { PATH, said, environment } = fakeNotify(t);
  const env = { ...account(mock), PATH, NOTIFY_SOCKET: '@/nowhere', WATCHDOG_USEC: '400000' };
  const { output, stop } = serve(t, env, [socket]);
  await until(
    () => said().filter((word) => word === 'WATCHDOG=1').length > 1,
    'WATCHDOG=1 is not repeated',
    LIMIT_MS,
  );
  t.equal(said()[0], 'READY=1');
  t.match(output(), /listening on/);
  t.match(environment(), /NOTIFY_SOCKET=@\/nowhere/);
  t.notMatch(environment(), /BEARERD_|LISTEN_/, 'systemd-notify gets no setting of bearerd');
  t.equal(await stop(), 0);
  await until(() => said().includes('STOPPING=1'), 'STOPPING=1 is not sent');
});

t.test('a systemd-notify that takes longer than the watchdog interval does not delay the stop', async (t) => {
  const [socket] = sockets(t, 1) as [PassedSocket];
  const { PATH, said } = fakeNotify(t, 'sleep 0.3');
  const env = { ...account(mock), PATH, NOTIFY_SOCKET: '@/nowhere', WATCHDOG_USEC: '20000' };
  const { stop } = serve(t, env, [socket]);
  await until(() => said().includes('WATCHDOG=1'), 'WATCHDOG=1 is not repeated', LIMIT_MS);
  t.equal(await stop(), 0);
  t.equal(said().at(-1), 'STOPPING=1', 'systemd learns of the stop before the process ends');
});

t.test('if systemd cannot be notified, the log says so and the proxy serves', async (t) => {
  const [socket] = sockets(t, 1) as [PassedSocket];
  const env = { ...account(mock), PATH: t.testdir({}), NOTIFY_SOCKET: '/nowhere' };
  const { output } = serve(t, env, [socket]);
  await until(() => output().includes('systemd-notify does not exist'), 'the log does not say so', LIMIT_MS);
  t.equal((await ask(socket.port, GET)).status, 200);
});

t.test('a command under exec does not get the variables of systemd', async (t) => {
  t.testdir({});
  const env = {
    ...account(mock),
    NOTIFY_SOCKET: '/nowhere',
    LISTEN_FDS: '1',
    LISTEN_FDNAMES: 'x',
    WATCHDOG_USEC: '9',
  };
  const { stdout, code } = await run(t, ['exec', '--', 'env'], env);
  t.equal(code, 0);
  t.notMatch(stdout, /^(?:NOTIFY|LISTEN|WATCHDOG)_/m);
});

t.test('no request is lost between two processes: it waits in the passed socket', async (t) => {
  const [socket] = sockets(t, 1) as [PassedSocket];
  let running = serve(t, account(mock), [socket]);
  await until(() => running.output().includes('logged in'), 'the proxy does not log in', LIMIT_MS);
  let going = true;
  t.teardown(() => {
    going = false;
  });
  const answers: Promise<number>[] = [];
  const load = (async () => {
    while (going) {
      answers.push(ask(socket.port, GET).then(({ status }) => status));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  for (let n = 1; n <= 2; n++) {
    await until(() => answers.length > 10 * n, 'no requests', LIMIT_MS);
    t.equal(await running.stop(), 0);
    running = serve(t, account(mock), [socket]);
    await until(() => running.output().includes('logged in'), 'the proxy does not log in', LIMIT_MS);
  }
  going = false;
  await load;
  const statuses = await Promise.all(answers);
  t.ok(statuses.length > 20);
  t.same(new Set(statuses), new Set([200]));
});
