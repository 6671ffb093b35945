import { spawn } from 'node:child_process';
import http from 'node:http';
import t from 'tap';
import { COMPILED, MAIN, run } from '../support/cli.ts';
import { saidBy } from '../support/internal-errors.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { plainNode } from '../support/plain-node.ts';
import { happens } from '../support/raw-client.ts';

// Unusual surroundings of a command.

const mock = await mockFor(t);
const ACCOUNT = accountOf(mock);

t.test('each command works in a working directory that has been deleted', async (t) => {
  const expected: readonly [args: readonly string[], code: number, says: RegExp][] = [
    [['check'], 0, /The configuration is valid/],
    [['routes'], 0, /^PREFIX/],
    [['token'], 0, /^eyJ/],
    [['exec', '--', 'true'], 0, /^$/],
    [['healthcheck', '--admin-listen', '127.0.0.1:1'], 1, /nothing listens at 127\.0\.0\.1:1/],
    [['init'], 73, /its folder does not exist/],
    [['check', '--config', 'x.yaml'], 66, /x\.yaml: the working directory has been deleted/],
    [['check', '--tls-ca-file', 'ca.pem'], 78, /BEARERD_TLS_CA_FILE|--tls-ca-file/],
  ];
  const env = { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...COMPILED, ...ACCOUNT };
  const ends = expected.map(async ([args]) => {
    // The shell deletes its own working directory.
    const script = 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$@"';
    const [command, words] = plainNode([MAIN, ...args]);
    const child = spawn('sh', ['-c', script, 'sh', command, ...words], { env });
    const output = saidBy(t, child);
    const [code] = await happens(child, 'close');
    return [code, output()] as const;
  });
  for (const [i, [code, output]] of (await Promise.all(ends)).entries()) {
    const [args, wanted, says] = expected[i]!;
    t.equal(code, wanted, `${args.join(' ')}: ${output}`);
    t.match(output, says);
  }
});

t.test('healthcheck finds a listener on localhost that has only ::1', async (t) => {
  t.testdir({});
  const ready = JSON.stringify({ ready: true, draining: false, credentials: {} });
  const server = http.createServer((_request, response) => response.end(ready));
  const bound = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(0, '::1', () => resolve(true));
  });
  if (!bound) return void t.comment('this machine has no ::1');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  t.match(await run(t, ['healthcheck', '--admin-listen', `localhost:${port}`]), { code: 0, stderr: '' });
});
