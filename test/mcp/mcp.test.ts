import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { start } from '../support/cli.ts';
import { until } from '../support/raw-client.ts';
import { blockOf } from '../support/typed.ts';

// docs/recipes/mcp.md: the MCP SDK's client calls the MCP SDK's server through bearerd, which holds the token.

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PAGE = readFileSync(join(HERE, '../../docs/recipes/mcp.md'), 'utf8');
const block = (language: string) => blockOf(PAGE, language);

/** The MCP server as a process of its own: its URL, and what it tells of each request. */
async function upstreamFor(t: Test) {
  const child: ChildProcess = spawn(process.execPath, [join(HERE, 'server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const requests: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the MCP server has ended')));
    createInterface({ input: child.stdout! }).on('line', (line) =>
      line.startsWith('http') ? resolve(line) : requests.push(line),
    );
  });
  return { url, requests };
}

/** The page's configuration, before a server of this machine. */
async function throughBearerd(t: Test) {
  const { url, requests } = await upstreamFor(t);
  const yaml = block('yaml')
    .replaceAll('https://mcp.example.com', url)
    .replace('https://login.example.com/token', `${url}/token`)
    .replace('/run/secrets/client_secret', 'client_secret');
  const cwd = t.testdir({ 'bearerd.yaml': yaml, client_secret: 'secret' });
  const env = { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: 'off', BEARERD_LOG_FORMAT: 'json' };
  const bearerd = start(t, ['start', '--config', 'bearerd.yaml'], env, cwd);
  const [, proxy = ''] = await bearerd.until(/"urls":\["([^"]+)"/);
  await bearerd.until(/login-succeeded|logged in/i);
  return { proxy, requests };
}

const node = (args: readonly string[], cwd?: string) =>
  promisify(execFile)(process.execPath, args, { cwd, timeout: 300_000 });

const tour = async (kind: string, url: string) =>
  JSON.parse((await node([join(HERE, 'client.mjs'), kind, url])).stdout);

const SEEN = {
  server: 'upstream',
  tools: ['count', 'announce', 'revoke'],
  counted: '3',
  progress: [1, 2, 3],
  told: 'notifications/tools/list_changed',
  revoked: 'revoked',
  again: 'announced',
};

t.test('an MCP client without a credential does all by streamable HTTP, and ends its session', async (t) => {
  const { proxy, requests } = await throughBearerd(t);
  t.same(await tour('http', `${proxy}/mcp`), { ...SEEN, hasSession: true });
  await until(() => requests.at(-1) === 'DELETE /mcp token-2', 'the session is not ended');
  t.ok(requests.includes('POST /mcp token-1'));
  t.ok(requests.includes('GET /mcp token-1'), 'the stream of what comes by itself');
  t.ok(requests.includes('POST /mcp 401'), 'the token was revoked within the session');
  t.ok(requests.includes('POST /mcp token-2'), 'and the same call went again with a new one');
});

t.test('the same by the older SSE transport, whose messages go to the endpoint that it names', async (t) => {
  const { proxy, requests } = await throughBearerd(t);
  t.same(await tour('sse', `${proxy}/sse`), { ...SEEN, hasSession: false });
  await until(() => requests.includes('POST /messages token-2'), 'no message with the new token');
  t.ok(requests.includes('GET /sse token-1'));
});

t.test('an endpoint of another origin is refused by the client, as the page says', async (t) => {
  const { proxy, requests } = await throughBearerd(t);
  const failed = await tour('sse', `${proxy}/sse?absolute`).catch((error: unknown) => error);
  t.match(failed, { stderr: /Endpoint origin does not match connection origin/ });
  await until(() => requests.length > 0, 'no request');
  t.same(requests, ['GET /sse token-1']);
});

t.test("the page's client prints the tools of the server", async (t) => {
  const { proxy } = await throughBearerd(t);
  const cwd = t.testdir({ 'client.mjs': block('js').replaceAll('http://localhost:9180', proxy) });
  const { stdout } = await node(['client.mjs'], cwd);
  t.equal(stdout.trim(), "[ 'count', 'announce', 'revoke' ]");
});
