import { spawn, spawnSync } from 'node:child_process';
import t, { type Test } from 'tap';
import type { RequestEvent } from '../../src/base/events.ts';
import { PROBLEM_REMEDIES } from '../../src/base/failures/problem-remedies.ts';
import { STATUS_REMEDIES } from '../../src/base/failures/status-words.ts';
import { AttemptRecord } from '../../src/base/journey.ts';
import { LoginError } from '../../src/base/login-error.ts';
import { newRequestEvent } from '../../src/listen/request-event.ts';
import { RefusalHints } from '../../src/observe/refusal-hints.ts';
import { RepeatedFailures } from '../../src/observe/repeated-failures.ts';
import { type LogRecord, terminalLine, wantsColours } from '../../src/observe/terminal-line.ts';
import { visibleJson } from '../../src/observe/visible.ts';
import { COMPILED, MAIN, start } from '../support/cli.ts';
import { saidBy } from '../support/internal-errors.ts';
import { ask, happens, until } from '../support/raw-client.ts';

const REQUEST = {
  level: 'info',
  time: new Date(2026, 10, 28, 9, 5, 7, 42).toISOString(),
  method: 'GET',
  path: '/companies/example.com',
  route: '/',
  credential: 'token',
  status: 200,
  durationMs: 12.34,
  bytesIn: 0,
  bytesOut: 12,
  requestId: '1',
  msg: 'request',
};
const words = (record: LogRecord) => terminalLine(record, false).split(/ +/).join(' ');

t.test('a request is one line: time, method, path, status, duration, credential', async (t) => {
  t.equal(words(REQUEST), '09:05:07.042 GET /companies/example.com 200 12.3 ms → token');
  const refused = { ...REQUEST, status: 503, credential: '', code: 'overloaded' };
  t.equal(words(refused), '09:05:07.042 GET /companies/example.com 503 12.3 ms overloaded');
  const left = { ...REQUEST, status: 0, aborted: true };
  t.equal(words(left), '09:05:07.042 GET /companies/example.com – 12.3 ms → token the client left');
  t.match(
    words({ ...REQUEST, method: '', path: '' }),
    /^\S+ – – 200 /,
    'a request that the parser refused has neither method nor path',
  );
  const closed = { ...REQUEST, status: 101, closedBy: 'token-expiry', caller: 'reports' };
  t.match(words(closed), / 101 12.3 ms → token for reports closed by token-expiry$/);
});

t.test('a request that failed names the command that says why, where one can', async (t) => {
  const line = (more: object) => terminalLine({ ...REQUEST, ...more }, false, 'bearerd why').trim();
  for (const failed of [
    { status: 502 },
    { status: 403 },
    { status: 404, code: 'no-route' },
    { aborted: true },
  ])
    t.match(line(failed), / bearerd why 1$/, JSON.stringify(failed));
  for (const other of [{}, { status: 404 }, { status: 101 }])
    t.notMatch(line(other), /bearerd why/, JSON.stringify(other));
  t.notMatch(terminalLine({ ...REQUEST, status: 502 }, false), /bearerd why/);
});

t.test('4xx are yellow, 5xx are red, and other answers have no colour', async (t) => {
  const coloured = (status: number) => terminalLine({ ...REQUEST, status, code: 'no-route' }, true);
  t.match(coloured(404), '\x1b[33m404\x1b[0m');
  t.match(coloured(404), '\x1b[33mno-route\x1b[0m');
  t.match(coloured(502), '\x1b[31m502\x1b[0m');
  t.match(coloured(204), ' 204 ');
});

t.test('other lines have their fields after the message, quoted where necessary', async (t) => {
  const { time } = REQUEST;
  const fields = { route: '/a b', names: ['x', 'y'], nested: { a: 1 }, cause: '' };
  t.equal(
    words({ level: 'warn', time, ...fields, msg: 'the upstream failed' }),
    '09:05:07.042 WARN the upstream failed route="/a b" names=x,y nested={"a":1} cause=""',
  );
  t.match(terminalLine({ level: 'error', time, msg: 'x' }, true), '\x1b[31mERROR\x1b[0m x');
  t.equal(terminalLine({ level: 'info', time, msg: 'stopped' }, false), '09:05:07.042 stopped');
});

t.test('a login that keeps failing in the same way is logged once, and later with a count', async (t) => {
  const failures = new RepeatedFailures();
  const failed = (message: string, usable = false) =>
    ({
      type: 'login-failed',
      credential: 'token',
      state: 'expired',
      durationMs: 1,
      error: new LoginError('unreachable', message),
      nextTryInMs: 12_000,
      usable,
    }) as const;
  const at = (seconds: number, message = 'nothing listens there', usable = false) =>
    failures.lineFor(failed(message, usable), seconds * 1000)?.[2];
  t.equal(at(0), 'login failed: nothing listens there');
  t.same(
    [1, 3, 6, 29].map((seconds) => at(seconds)),
    [undefined, undefined, undefined, undefined],
  );
  t.equal(at(31), 'still no login, for the same reason: 6 tries in 31 s');
  t.equal(at(40), undefined);
  t.equal(at(70), 'still no login, for the same reason: 8 tries in 70 s');
  t.equal(at(71, 'it refuses'), 'login failed: it refuses', 'another failure is logged');
  t.equal(at(72, 'it refuses', true), 'login failed: it refuses', 'another state is logged');
  failures.lineFor(
    {
      type: 'login-succeeded',
      credential: 'token',
      state: 'fresh',
      fingerprint: 'x',
      durationMs: 1,
      lifetimeMs: 1,
      renewInMs: 1,
      warnings: [],
    },
    73_000,
  );
  t.equal(
    at(74, 'it refuses', true),
    'login failed: it refuses',
    'the first failure after a login is logged',
  );
});

t.test('a refusal is followed by what to do, once a minute for each code and status', async (t) => {
  const hints = new RefusalHints();
  const hint = (seconds: number, what: Partial<RequestEvent>) =>
    hints.lineFor({ ...newRequestEvent('id-1', 'GET', 0), ...what }, seconds * 1000);
  const call = (remedy: string) => ({ code: 'no-route', status: 404, remedy }) as const;
  t.same(hint(0, call('Call /x.')), ['info', { requestId: 'id-1' }, 'no-route: Call /x.']);
  t.equal(hint(59, call('Call /x.')), undefined);
  t.equal(hint(59, { code: 'host-refused' })?.[2], `host-refused: ${PROBLEM_REMEDIES['host-refused']}`);
  t.equal(hint(61, call('Call /y.'))?.[2], 'no-route: Call /y.');
  const attempt = new AttemptRecord('https://api.example.com', 0, undefined);
  const refused = { status: 401, tokenState: 'ready', credential: 'apiKey', attempt } as const;
  t.equal(hint(0, refused)?.[2], `401: ${STATUS_REMEDIES['401 key']}`);
  t.equal(hint(1, refused), undefined);
  t.equal(hint(0, { ...refused, status: 200 }), undefined);
  t.equal(hint(0, { ...refused, status: 403, aborted: true }), undefined, 'the client left');
  t.equal(hint(0, { code: 'upstream-unreachable' }), undefined, 'which has a line of its own');
});

t.test('no text of a client or a file can control the terminal', async (t) => {
  const nasty = '\x1b[2J\x07\r\n\x7f\x9b31m\u202e\u200b\u2028';
  const line = terminalLine({ ...REQUEST, path: `/${nasty}`, credential: nasty, caller: nasty }, false);
  const other = terminalLine({ ...REQUEST, msg: nasty, list: [nasty], nested: { [nasty]: nasty } }, false);
  for (const text of [line, other]) {
    t.notMatch(text, /[\x00-\x1f\x7f-\x9f\u200b\u2028\u202e]/);
    t.match(text, '\\u009b31m', 'a control character is shown escaped');
  }
});

t.test('JSON lines escape characters that could control a terminal', async (t) => {
  const json = `{"a":"\x7f\x9b\u202e"}\n{"b":"å"}\n`;
  t.equal(visibleJson(json), '{"a":"\\u007f\\u009b\\u202e"}\n{"b":"å"}\n');
});

t.test('colours depend on the terminal, NO_COLOR and FORCE_COLOR', async (t) => {
  t.equal(wantsColours({}, true), true);
  t.equal(wantsColours({}, false), false);
  t.equal(wantsColours({ TERM: 'dumb' }, true), false);
  t.equal(wantsColours({ NO_COLOR: '1' }, true), false);
  t.equal(wantsColours({ NO_COLOR: '' }, true), true, 'an empty NO_COLOR has no effect');
  t.equal(wantsColours({ FORCE_COLOR: '1' }, false), true);
  t.equal(wantsColours({ FORCE_COLOR: '1', TERM: 'dumb' }, false), true);
  t.equal(wantsColours({ FORCE_COLOR: '1', NO_COLOR: '1' }, true), false, 'NO_COLOR wins');
  t.equal(wantsColours({ FORCE_COLOR: '0' }, true), false);
});

const DEMO = { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };

/** The output of a demo that logs in, answers a request, and stops. */
async function outputOf(t: Test, env: NodeJS.ProcessEnv): Promise<string> {
  const demo = start(t, ['demo'], { ...DEMO, ...env });
  const url = (await demo.until(/bearerd is at +(http:\S+),/))[1]!;
  await demo.until(/logged in/);
  await ask(Number(new URL(url).port), 'GET /nowhere?key=hidden HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await demo.until(/GET.*nowhere/);
  demo.child.kill('SIGTERM');
  return (await demo.finished).stdout;
}

t.test('pretty lines outside a terminal have no escape byte, unless FORCE_COLOR is set', async (t) => {
  t.testdir({});
  const pretty = { BEARERD_LOG_FORMAT: 'pretty' };
  const plain = await outputOf(t, pretty);
  t.notMatch(plain, /[\x1b\x7f-\x9f]/);
  t.match(plain, /^[\d:.]{12} GET +\/nowhere +404 +[\d.]+ ms/m);
  t.notMatch(plain, 'hidden');
  t.match(await outputOf(t, { ...pretty, FORCE_COLOR: '1' }), '\x1b[');
  t.notMatch(await outputOf(t, { ...pretty, FORCE_COLOR: '1', NO_COLOR: '1' }), '\x1b');
});

t.test('in JSON the level is a name', async (t) => {
  t.testdir({});
  const text = await outputOf(t, { BEARERD_LOG_FORMAT: 'json' });
  t.notMatch(text, /[^\n\x20-\x7e]/, 'JSON lines are ASCII: grep treats other bytes as a binary file');
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  const records = lines.map((line) => JSON.parse(line) as { level: string; path?: string });
  t.same(
    records.filter(({ level }) => level !== 'info' && level !== 'warn'),
    [],
  );
  t.ok(records.some(({ path }) => path === '/nowhere'));
});

t.test('the start lists the URLs, the page, and each route with its upstream and credential', async (t) => {
  t.testdir({});
  const text = await outputOf(t, { BEARERD_LOG_FORMAT: 'pretty' });
  t.match(text, /listening on http:\/\/127\.0\.0\.1:\d+ .*upstream=http:\/\/127\.0\.0\.1:\d+\n/);
  t.match(text, /status page at http:\/\/127\.0\.0\.1:\d+\/\n/);
  t.match(text, /route \/companies credential=apiKey upstream=http:\/\/127\.0\.0\.1:\d+\/companies\n/);
  t.match(text, /credential token kind=session state=starting\n/);
});

const noTerminal =
  spawnSync('script', ['--version']).status !== 0 && 'there is no `script` that would make a terminal';

t.test('a terminal gets pretty lines, in colours that it can show', { skip: noTerminal }, async (t) => {
  const { PATH, HOME } = process.env;
  const onTerminal = async (env: NodeJS.ProcessEnv) => {
    const command = `'${process.execPath}' '${MAIN}' demo`;
    const child = spawn('script', ['-qfec', command, '/dev/null'], {
      env: { PATH, HOME, TERM: 'xterm', ...COMPILED, ...DEMO, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const output = saidBy(t, child);
    t.teardown(() => child.exitCode === null && child.stdin.write('\x03'));
    await until(() => output().includes('logged in'), 'no login');
    const ended = happens(child, 'close');
    child.stdin.write('\x03'); // Like a key press: killing `script` would leave the demo running.
    await ended;
    t.match(output(), /stopped/);
    return output();
  };
  t.match(await onTerminal({}), /^\x1b\[2m[\d:.]{12}\x1b\[0m logged in/m);
  const dumb = await onTerminal({ TERM: 'dumb' });
  t.match(dumb, /^[\d:.]{12} logged in/m);
  t.notMatch(dumb, '\x1b');
});
