import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { start } from '../support/cli.ts';
import { inOneProcess } from '../support/one-process.ts';
import { isRunning } from '../support/processes.ts';
import { until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

const call = inOneProcess(t);

/** A folder with a configuration (an OAuth 2.0 client, a command), and a function that runs `bearerd` in it. */
async function folder(t: Test) {
  const issuer = await RawUpstream.startedFor(t);
  issuer.onRequest = () => ok('{"access_token":"oauth-1","token_type":"mac","expires_in":600}');
  const dir = t.testdir({
    'bearerd.yaml': `
baseUrl: ${issuer.url}
credentials:
  program: { type: exec, command: [./print-token], timeout: 20s, header: X-Token, scheme: Token }
  partner: { type: oauth2, tokenUrl: '${issuer.url}/token', clientId: c, clientSecret: { env: PARTNER } }
routes:
  - { prefix: /partner, credential: partner }
  - { prefix: /, credential: program }
`,
    'print-token': `#!/bin/sh
echo SECRET >&2
case "$GREETING" in
  fail) echo SECRET; exit 3;;
  linger) echo $$ > pid; sleep 60;;
esac
echo "$GREETING-\${PARTNER-none}"
`,
  });
  chmodSync(join(dir, 'print-token'), 0o755);
  const env = (greeting: string) => ({ PARTNER: 'partner-secret', GREETING: greeting });
  return {
    dir,
    issuer,
    env,
    bearerd: (greeting: string, ...args: string[]) => call(t, args, env(greeting), dir),
  };
}

t.test(
  'token prints the token of a command or a token endpoint, and nothing else of their output',
  async (t) => {
    const { bearerd } = await folder(t);
    const [program, header, partner, json] = await Promise.all([
      bearerd('hello', 'token', '--credential', 'program'),
      bearerd('hello', 'token', '--credential', 'program', '--header'),
      bearerd('hello', 'token', '--credential', 'partner'),
      bearerd('hello', 'token', '--credential', 'partner', '--json'),
    ]);
    t.match(program, { code: 0, stdout: 'hello-none\n' }, 'the environment of the command has no secret');
    t.match(program.stderr, /no expiry; 15 minutes/);
    t.equal(header.stdout, 'X-Token: Token hello-none\n');
    t.match(partner, { code: 0, stdout: 'oauth-1\n', stderr: /token_type is not Bearer/ });
    t.match(JSON.parse(json.stdout), { token: 'oauth-1', expiresAt: /Z$/ });
    for (const { stdout, stderr } of [program, header, partner, json])
      t.notMatch(stdout + stderr, /SECRET|partner-secret/);
  },
);

t.test('check --online tries both logins, tells a refusal from a failure, and shows no secret', async (t) => {
  const { bearerd, issuer } = await folder(t);
  const good = await bearerd('hello', 'check', '--online');
  t.match(good, {
    code: 0,
    stdout: /# ✓ login program: fresh; .*\n# ✓ login partner: fresh; the token lives for 600 s/,
  });
  t.match(
    good.stdout,
    /type: oauth2 .*\n *tokenUrl: http:.*\/token .*\n *grant: clientCredentials .*\n *clientId: (['"]?)\*\*\*\1 .*\n/,
  );
  t.match(good.stdout, /type: exec .*\n *command:\n *- .*\/print-token .*\n *timeout: 20s/);
  const failed = await bearerd('fail', 'check', '--online');
  t.match(failed, { code: 69, stderr: /program: the command \S+ failed \(exit code 3; 7 bytes/ });
  const no = '{"error":"invalid_client","error_description":"SECRET"}';
  issuer.onRequest = () => `${head('401 No', `content-length: ${no.length}`)}${no}`;
  const refused = await bearerd('fail', 'check', '--online');
  t.match(refused, {
    code: 77,
    stderr: /partner: the token endpoint \S+ refuses the login \(status 401, invalid_client\)/,
  });
  for (const { stdout, stderr } of [good, failed, refused])
    t.notMatch(stdout + stderr, /SECRET|partner-secret/);
});

t.test('routes explains a request with these credentials like any other', async (t) => {
  const { bearerd, issuer } = await folder(t);
  const { code, stdout } = await bearerd('hello', 'routes', 'GET', '/partner/x');
  t.equal(code, 0);
  t.match(stdout, /credential: +partner\n/);
  t.match(stdout, `upstream:   ${issuer.url}/partner/x\n`);
});

t.test('a running command ends with bearerd', async (t) => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const { dir, env } = await folder(t);
    const { child, finished } = start(t, ['token', '--credential', 'program'], env('linger'), dir);
    const file = join(dir, 'pid');
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '', 'the command does not start');
    child.kill(signal);
    t.match(await finished, { code, stdout: '' });
    await until(() => !isRunning(Number(readFileSync(file, 'utf8'))), 'the command still runs');
  }
});
