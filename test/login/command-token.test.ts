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

/** A script, for what it is easier to say in one. */
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

t.test('a command prints the bare token on a line', async (t) => {
  for (const text of ['tok-1', 'tok-1\n', 'tok-1\r\n', '\n  tok-1  \n\n']) {
    const result = await prints(text);
    t.match(result, { token: 'tok-1', warnings: [/no expiry; 15 minutes/] }, JSON.stringify(text));
    t.ok('lifetimeMs' in result && result.lifetimeMs > 800_000 && result.lifetimeMs <= 900_000);
  }
});

t.test('a bare JWT says itself when it expires', async (t) => {
  const token = jwt({ exp: Math.floor(Date.now() / 1000) + 600 });
  const result = await prints(`${token}\n`);
  t.match(result, { token, warnings: [] });
  t.ok('lifetimeMs' in result && result.lifetimeMs > 500_000 && result.lifetimeMs <= 600_000);
});

t.test('or JSON with the token and its expiry, under each of the known names', async (t) => {
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

t.test('or the ExecCredential of a credential plugin of kubectl', async (t) => {
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

t.test('output without a usable token is a failed login, and no part of it is shown', async (t) => {
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

t.test('an exit code other than 0 and a signal are failures, whatever was printed', async (t) => {
  const loud = 'echo SECRET; echo SECRET >&2;';
  const code = await sh(`${loud} exit 3`);
  t.match(code, {
    code: 'server-error',
    message: 'the command /bin/sh failed (exit code 3; 7 bytes on stderr are not shown)',
  });
  const signal = await sh(`${loud} kill -TERM $$`);
  t.match(signal, { code: 'server-error', message: /failed \(by SIGTERM; 7 bytes/ });
  t.match(await sh('exit 1'), { message: 'the command /bin/sh failed (exit code 1)' });
  t.match(await sh('echo warning >&2; echo tok-1'), { token: 'tok-1' }, 'stderr alone is no failure');
  t.match(await sh('head -c 300000 /dev/zero >&2; echo tok-1'), { token: 'tok-1' }, 'however much of it');
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
    'a whole command line is not shown: there may be a secret in it',
  );
  t.match(await run(['/bin/echo', 'x'.repeat(3_000_000)]), { code: 'unreachable', message: /\(E2BIG\)/ });
});

t.test('there is no shell, and no input', async (t) => {
  t.match(await run(['/bin/echo', '$HOME;ls|*']), { token: '$HOME;ls|*' });
  t.match(await sh('cat; echo tok-1'), { token: 'tok-1' });
});

t.test('it may print 64 KiB and no more', async (t) => {
  const text = '{"token":"tok-1","expires_in":60}';
  const padded = (size: number) =>
    sh(`printf '%s' '${text}'; head -c ${size - text.length} /dev/zero | tr '\\0' ' '`);
  t.match(await padded(65_536), { token: 'tok-1' });
  t.match(await padded(65_537), { code: 'unusable', message: /more than 64 KiB/ });
  t.match(await soon(sh('yes SECRET')), { code: 'unusable' }, 'one that never stops is killed');
});

/** What it runs takes longer than anybody waits. */
const soon = <T>(result: Promise<T>) => within(PATIENCE_MS, result, () => 'the command is waited for');

/** Writes its process ID into a file, and then runs for a long time. */
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
  await until(() => !isRunning(pid), 'what it has started is gone too');
  const message = `the command /bin/sh was killed: it was still running after ${timeoutMs / 1_000} s`;
  t.match(result, { code: 'unreachable', message });
}

t.test('at the timeout it is killed with everything that it has started', async (t) => {
  await killedWithItsChildren(t, (file) => `trap '' TERM; ${lingering(file)}; echo tok-1`);
});

t.test('an output that is still open at the timeout has not ended', async (t) => {
  await killedWithItsChildren(t, (file) => `${lingering(file)} & echo SECRET`);
});

t.test(
  "a child that leaves its process group doesn't hold up the login",
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { result, pid } = await timedOut(t, (file) => `setsid ${lingering(file)} & sleep 600`);
    t.match(result, { code: 'unreachable' });
    process.kill(pid, 'SIGKILL');
  },
);

t.test('where there are no process groups, the command itself is killed', async (t) => {
  const { kill } = process;
  t.intercept(process, 'kill', {
    value: (pid: number, signal?: NodeJS.Signals | number) => {
      if (pid < 0) throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
      return kill.call(process, pid, signal);
    },
  });
  const { result, pid } = await timedOut(t, (file) => `echo $$ > ${file}; exec sleep 600`);
  t.match(result, { code: 'unreachable' });
  await until(() => !isRunning(pid), 'the command lives on');
});

t.test('what it leaves behind in order, without an output, may live on', async (t) => {
  const file = join(t.testdir({}), 'pid');
  writeFileSync(file, '');
  const result = await sh(`${lingering(file)} >/dev/null 2>&1 & echo tok-1`);
  t.match(result, { token: 'tok-1' });
  await until(() => readFileSync(file, 'utf8') !== '', 'it has begun');
  const pid = Number(readFileSync(file, 'utf8'));
  t.ok(isRunning(pid));
  process.kill(pid, 'SIGKILL');
});

t.test('a cancelled login kills the command, or never begins it', async (t) => {
  const abort = new AbortController();
  const pidFile = join(t.testdir({}), 'pid');
  const login = sh(`${lingering(pidFile)}; echo tok-1`, { signal: abort.signal });
  await until(() => pidIn(pidFile) > 0, 'it does not begin');
  abort.abort();
  t.match(await soon(login), { code: 'unreachable', message: /no longer wanted/ });
  await until(() => !isRunning(pidIn(pidFile)), 'what it has started is gone too');
  const file = join(t.testdir({}), 'begun');
  t.match(await sh(`touch ${file}; echo tok-1`, { signal: AbortSignal.abort() }), { code: 'unreachable' });
  t.notOk(existsSync(file));
});

t.test('its environment is the one that it is given, and no other', async (t) => {
  process.env.BEARERD_TEST_SECRET = 'SECRET';
  t.teardown(() => {
    delete process.env.BEARERD_TEST_SECRET;
  });
  const env = { PATH: process.env.PATH, GREETING: 'hello', UNSET: undefined };
  const script =
    "console.log(['GREETING', 'UNSET', 'BEARERD_TEST_SECRET'].map((name) => process.env[name]).join('-'))";
  t.match(await run([process.execPath, '-e', script], { env }), { token: 'hello--' });
});

t.test('a command that still runs when bearerd exits goes with it', async (t) => {
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
  await until(() => !isRunning(Number(readFileSync(file, 'utf8'))), 'it is gone');
});

t.test('many runs leave no listener behind', async (t) => {
  const before = process.listenerCount('exit');
  const signal = new AbortController().signal;
  for (const script of ['echo tok-1', 'exit 1', 'sleep 60']) await sh(script, { signal, timeoutMs: 200 });
  await run(['no-such-command-here']);
  t.equal(process.listenerCount('exit'), before);
});
