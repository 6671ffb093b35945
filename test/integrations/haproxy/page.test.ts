import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { freePort } from '../../support/free-port.ts';
import { NO_HAPROXY } from '../../support/haproxy.ts';
import { mockFor } from '../../support/mock.ts';
import { until } from '../../support/raw-client.ts';
import { typedIn } from '../../support/typed.ts';

// Runs the commands of docs/haproxy.md, with a test folder in place of /run/bearerd.

const page = readFileSync(fileURLToPath(new URL('../../../docs/haproxy.md', import.meta.url)), 'utf8');

t.test('the commands of the page are enough for a first request', { skip: NO_HAPROXY }, async (t) => {
  const mock = await mockFor(t);
  const dir = mkdtempSync(join(tmpdir(), 'page-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const ports = { 9180: await freePort(), 9181: await freePort(), 9182: await freePort() };
  const here = (text: string) =>
    Object.entries(ports).reduce(
      (all, [port, free]) => all.replaceAll(`localhost:${port}`, `127.0.0.1:${free}`),
      text.replaceAll('/run/bearerd/', `${dir}/`),
    );
  const block = (before: string) =>
    [...page.matchAll(new RegExp(`<!-- ${before} -->\\n\`\`\`\\w+\\n(.*?)\`\`\``, 'gs'))].map(
      ([, text = '']) => here(text),
    );
  const [yaml = ''] = block('file: bearerd.yaml');
  const typed = typedIn(t, mock, { 'bearerd.yaml': yaml });
  const work = typed.cwd;
  const env = {
    ...typed.env,
    BEARERD_LISTEN: `127.0.0.1:${ports[9180]}`,
    BEARERD_ADMIN_LISTEN: `127.0.0.1:${ports[9181]}`,
  };
  const options = { cwd: work, env, timeout: 300_000 };
  const shell = promisify(execFile);
  const [prepare = '', ask = ''] = block('run');
  const [start = ''] = block('start');

  await shell(
    'sh',
    [
      '-c',
      `set -e\n${prepare.replace('haproxy --config', `haproxy --listen 127.0.0.1:${ports[9182]} --config`)}`,
    ],
    options,
  );
  t.notMatch(readFileSync(join(work, 'haproxy.cfg'), 'utf8'), mock.credentials.clientSecret);
  // In its own process group, so that all its processes can be ended together.
  const both = spawn('sh', ['-c', `${start}wait`], {
    cwd: work,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => process.kill(-both.pid!, 'SIGKILL'));
  let log = '';
  both.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const logged = () => log.split('\n').filter((line) => line.includes('/companies/example.com')).length;
  // The first request may go through bearerd, which then logs it.
  await until(async () => {
    const before = logged();
    const { stdout } = await shell('sh', ['-c', ask], options).catch(() => ({ stdout: '' }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    return stdout === '200\n' && logged() === before;
  }, 'no request took the fast lane');
});
