import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { LoginError } from '../../src/base/login-error.ts';
import type { ExecCredentialConfig } from '../../src/config/sections/credentials/exec.ts';
import { createExecLogin } from '../../src/login/command-token.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { outcomeOf, type ReadableToken } from '../support/outcome.ts';
import { isRunning } from '../support/processes.ts';
import { PATIENCE_MS, until, within } from '../support/raw-client.ts';

interface World {
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

async function run(command: readonly string[], world: World = {}): Promise<ReadableToken | LoginError> {
  const config: ExecCredentialConfig = {
    kind: 'exec',
    name: 'program',
    origins: [],
    header: 'Authorization',
    scheme: 'Bearer',
    command,
    timeoutMs: world.timeoutMs ?? PATIENCE_MS,
  };
  const login = createExecLogin(config, world.env ?? process.env, world.clock ?? systemClock);
  return outcomeOf(login(world.signal ?? new AbortController().signal));
}

/** Runs a shell script. */
const sh = (script: string, world?: World) => run(['/bin/sh', '-c', script], world);
/** A program that prints exactly this. */
const prints = (text: string | Buffer, world?: World) =>
  sh(
    `printf '${[...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}'`,
    world,
  );

const jwt = (claims: object) =>
  ['{"alg":"none"}', JSON.stringify(claims), 'sig']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

t.test('a command may print the bare token on a line', async (t) => {
  for (const text of ['tok-1', 'tok-1\n', 'tok-1\r\n', '\n  tok-1  \n\n']) {
    const result = await prints(text);
    t.match(result, { token: 'tok-1', warnings: [/no expiry; 15 minutes/] }, JSON.stringify(text));
    t.ok('lifetimeMs' in result && result.lifetimeMs > 800_000 && result.lifetimeMs <= 900_000);
  }
});

t.test('the exp claim of a bare JWT gives its expiry', async (t) => {
  const token = jwt({ exp: Math.floor(Date.now() / 1000) + 600 });
  const result = await prints(`${token}\n`);
  t.match(result, { token, warnings: [] });
  t.ok('lifetimeMs' in result && result.lifetimeMs > 500_000 && result.lifetimeMs <= 600_000);
});

t.test('a command may print JSON with the token and its expiry, under each known name', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 0, 0));
  const cases: [string, number][] = [
    ['{"token":"tok-1","expiresAt":"2026-01-02T03:10:00.000000"}', 600_000],
    ['{"accessToken":"tok-1","expiresAt":"2026-01-02T05:10:00+02:00"}', 600_000],
    ['{"access_token":"tok-1","expires_at":"2026-01-02T03:10:00Z"}', 600_000],
    [`{"token":"tok-1","expires_at":${Date.UTC(2026, 0, 2, 3, 10) / 1000}}`, 600_000],
    ['{"token":"tok-1","expires_in":60}', 60_000],
    ['\n{\n  "token": "tok-1",\n  "expiresIn": "60"\n}\n', 60_000],
    ['{"token":"","accessToken":"tok-1","expires_in":60}', 60_000],
    ['\ufeff{"token":"tok-1","expires_in":60}', 60_000],
  ];
  for (const [text, lifetimeMs] of cases)
    t.match(await prints(text, { clock }), { token: 'tok-1', lifetimeMs, warnings: [] }, text);
  t.match(await prints('{"token":"tok-1","expiresAt":"soon","expires_in":60}', { clock }), {
    lifetimeMs: 60_000,
    warnings: [/^expiresAt can't be read/],
  });
});

t.test('a command may print the ExecCredential of a kubectl credential plugin', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 0, 0));
  const plugin = (status: unknown) =>
    prints(
      JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status }),
      {
        clock,
      },
    );
  t.match(await plugin({ token: 'tok-1', expirationTimestamp: '2026-01-02T03:10:00Z' }), {
    token: 'tok-1',
    lifetimeMs: 600_000,
    warnings: [],
  });
  t.match(await plugin({ token: 'tok-1' }), { token: 'tok-1', warnings: [/15 minutes are assumed/] });
  for (const status of [undefined, null, 'tok-1', {}, { clientCertificateData: 'pem' }])
    t.match(await plugin(status), { message: /holds no token/ }, JSON.stringify(status));
});

t.test('expires_in counts from the start of the command', async (t) => {
  const result = await sh('sleep 0.3; echo \'{"token":"tok-1","expires_in":60}\'');
  t.ok('lifetimeMs' in result && result.lifetimeMs <= 59_700 && result.lifetimeMs > 0);
});

t.test('output without a usable token fails the login, and no part of it is shown', async (t) => {
  const outputs: (string | Buffer)[] = [
    '',
    '\n \n',
    'SECRET\nSECRET2\n',
    'SECRET: not signed in\n',
    '{}',
    '{"token":"SECRET"',
    '{"token":7,"x":"SECRET"}',
    '{"token":"SECRET\\n"}',
    '{"token":"SECRETé"}',
    '{"token":"SECRET","expires_in":0}',
    'SECRETé',
    Buffer.from('534543524554ff', 'hex'),
    Buffer.from('SECRET\0'),
  ];
  for (const output of outputs) {
    const result = await prints(output);
    t.match(result, { code: 'unusable', status: undefined }, JSON.stringify(String(output)));
    t.notMatch((result as LoginError).message, /SECRET/);
  }
});

t.test('an exit code other than 0 and a signal fail the login, whatever was printed', async (t) => {
  const loud = 'echo SECRET; echo SECRET >&2;';
  const code = await sh(`${loud} exit 3`);
  t.match(code, {
    code: 'server-error',
    message: 'the command /bin/sh failed (exit code 3; 7 bytes on stderr are not shown)',
  });
  const signal = await sh(`${loud} kill -TERM $$`);
  t.match(signal, { code: 'server-error', message: /failed \(by SIGTERM; 7 bytes/ });
  t.match(await sh('exit 1'), { message: 'the command /bin/sh failed (exit code 1)' });
  t.match(await sh('echo warning >&2; echo tok-1'), { token: 'tok-1' }, 'output on stderr is no failure');
  t.match(
    await sh('head -c 300000 /dev/zero >&2; echo tok-1'),
    { token: 'tok-1' },
    'a lot of output on stderr is no failure',
  );
});

t.test('the error names a command that does not exist or may not run', async (t) => {
  const dir = t.testdir({ 'no-program': 'x' });
  t.match(await run(['no-such-command-here']), {
    code: 'unreachable',
    message: "the command no-such-command-here can't be found",
  });
  t.match(await run([join(dir, 'no-program')]), {
    code: 'unreachable',
    message: /no-program may not be run\. Run it by hand/,
  });
  t.match(await run([dir]), { code: 'unreachable', message: /may not be run\./ });
  const line = await run(['curl -H "x: SECRET" https://a.example']);
  t.match(line, { code: 'unreachable' });
  t.notMatch(
    (line as LoginError).message,
    /SECRET/,
    'a program that looks like a command line is not shown: it may hold a secret',
  );
  t.match(await run(['/bin/echo', 'x'.repeat(3_000_000)]), { code: 'unreachable', message: /\(E2BIG\)/ });
});

t.test('a command runs without a shell and without input', async (t) => {
  t.match(await run(['/bin/echo', '$HOME;ls|*']), { token: '$HOME;ls|*' });
  t.match(await sh('cat; echo tok-1'), { token: 'tok-1' });
});

t.test('a command may print at most 64 KiB', async (t) => {
  const text = '{"token":"tok-1","expires_in":60}';
  const padded = (size: number) =>
    sh(`printf '%s' '${text}'; head -c ${size - text.length} /dev/zero | tr '\\0' ' '`);
  t.match(await padded(65_536), { token: 'tok-1' });
  t.match(await padded(65_537), { code: 'unusable', message: /more than 64 KiB/ });
  t.match(await soon(sh('yes SECRET')), { code: 'unusable' }, 'a command that prints without end is killed');
});

/** Fails if the login waits for a process that runs much longer. */
const soon = <T>(result: Promise<T>) => within(PATIENCE_MS, result, () => 'the login waits for the command');

/** A script that writes its process ID into a file, and then runs for a long time. */
const lingering = (file: string) => `/bin/sh -c 'echo $$ > ${file}; exec sleep 600'`;

/** The process ID that it has written; 0 where it has not come to that. */
const pidIn = (file: string) => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);

/** On a busy machine a command may not have begun by its timeout: then it gets more time. */
const TIMEOUTS_MS = [400, 3_000, 20_000];

async function timedOut(t: Test, script: (file: string) => string) {
  const file = join(t.testdir({}), 'pid');
  for (const timeoutMs of TIMEOUTS_MS) {
    const result = (await soon(sh(script(file), { timeoutMs }))) as LoginError;
    if (pidIn(file) > 0) return { result, timeoutMs, pid: pidIn(file) };
  }
  throw new Error('it does not begin');
}

async function killedWithItsChildren(t: Test, script: (file: string) => string): Promise<void> {
  const { result, timeoutMs, pid } = await timedOut(t, script);
  await until(() => !isRunning(pid), 'the child process still runs');
  const message = `the command /bin/sh was killed: it was still running after ${timeoutMs / 1_000} s`;
  t.match(result, { code: 'unreachable', message });
}

t.test('at the timeout a command is killed with its child processes', async (t) => {
  await killedWithItsChildren(t, (file) => `trap '' TERM; ${lingering(file)}; echo tok-1`);
});

t.test('an output that a child process keeps open at the timeout counts as not ended', async (t) => {
  await killedWithItsChildren(t, (file) => `${lingering(file)} & echo SECRET`);
});

t.test(
  'a child process that leaves the process group does not delay the login past the timeout',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { result, pid } = await timedOut(t, (file) => `setsid ${lingering(file)} & sleep 600`);
    t.match(result, { code: 'unreachable' });
    process.kill(pid, 'SIGKILL');
  },
);

t.test('without process groups the command itself is killed', async (t) => {
  const { kill } = process;
  t.intercept(process, 'kill', {
    value: (pid: number, signal?: NodeJS.Signals | number) => {
      if (pid < 0) throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
      return kill.call(process, pid, signal);
    },
  });
  const { result, pid } = await timedOut(t, (file) => `echo $$ > ${file}; exec sleep 600`);
  t.match(result, { code: 'unreachable' });
  await until(() => !isRunning(pid), 'the command still runs');
});

t.test('a child process without the output may outlive a command that succeeds', async (t) => {
  const file = join(t.testdir({}), 'pid');
  writeFileSync(file, '');
  const result = await sh(`${lingering(file)} >/dev/null 2>&1 & echo tok-1`);
  t.match(result, { token: 'tok-1' });
  await until(() => readFileSync(file, 'utf8') !== '', 'the child process does not start');
  const pid = Number(readFileSync(file, 'utf8'));
  t.ok(isRunning(pid));
  process.kill(pid, 'SIGKILL');
});

t.test('a cancelled login kills the command, or does not start it', async (t) => {
  const abort = new AbortController();
  const pidFile = join(t.testdir({}), 'pid');
  const login = sh(`${lingering(pidFile)}; echo tok-1`, { signal: abort.signal });
  await until(() => pidIn(pidFile) > 0, 'it does not begin');
  abort.abort();
  t.match(await soon(login), { code: 'unreachable', message: /no longer wanted/ });
  await until(() => !isRunning(pidIn(pidFile)), 'the child process still runs');
  const file = join(t.testdir({}), 'begun');
  t.match(await sh(`touch ${file}; echo tok-1`, { signal: AbortSignal.abort() }), { code: 'unreachable' });
  t.notOk(existsSync(file));
});

t.test('a command gets exactly the given environment', async (t) => {
  process.env.BEARERD_TEST_SECRET = 'SECRET';
  t.teardown(() => {
    delete process.env.BEARERD_TEST_SECRET;
  });
  const env = { PATH: process.env.PATH, GREETING: 'hello', UNSET: undefined };
  const script =
    "console.log(['GREETING', 'UNSET', 'BEARERD_TEST_SECRET'].map((name) => process.env[name]).join('-'))";
  t.match(await run([process.execPath, '-e', script], { env }), { token: 'hello--' });
});

t.test('a command that still runs when bearerd exits is killed', async (t) => {
  const file = join(t.testdir({}), 'pid');
  const url = new URL('../../src/base/run-command.ts', import.meta.url);
  const options =
    '{ env: process.env, timeoutMs: 60_000, maxOutputBytes: 9, signal: new AbortController().signal }';
  const program = `import { runCommand } from '${url}';
    import { existsSync, readFileSync } from 'node:fs';
    for (let i = 0; i < 12; i++) runCommand(['/bin/sh', '-c', 'echo $$ > ${file}; exec sleep 600'], ${options});
    setInterval(() => existsSync('${file}') && readFileSync('${file}', 'utf8').endsWith('\\n') && process.exit(7), 20);`;
  const bearerd = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  t.match(bearerd, { status: 7, stderr: '' });
  await until(() => !isRunning(Number(readFileSync(file, 'utf8'))), 'the command still runs');
});

t.test('runs of a command leave no listeners on the process', async (t) => {
  const before = process.listenerCount('exit');
  const signal = new AbortController().signal;
  for (const script of ['echo tok-1', 'exit 1', 'sleep 60']) await sh(script, { signal, timeoutMs: 200 });
  await run(['no-such-command-here']);
  t.equal(process.listenerCount('exit'), before);
});
