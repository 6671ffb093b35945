import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Contender {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function node(script: string, args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [here(script), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function bearerd(upstream: string): Promise<Contender> {
  const port = await freePort();
  const child = node('../dist/main.js', ['start'], {
    BEARERD_BASE_URL: upstream,
    BEARERD_CLIENT_ID: 'bench',
    BEARERD_CLIENT_SECRET: 'bench',
    BEARERD_LISTEN: `127.0.0.1:${port}`,
    BEARERD_ADMIN_LISTEN: `127.0.0.1:${await freePort()}`,
  });
  return { name: 'bearerd', url: `http://127.0.0.1:${port}`, child };
}

async function bare(upstream: string): Promise<Contender> {
  const port = await freePort();
  return {
    name: '@fastify/http-proxy',
    url: `http://127.0.0.1:${port}`,
    child: node('bare.ts', [String(port), upstream]),
  };
}

async function haproxy(upstream: string): Promise<Contender> {
  const port = await freePort();
  const file = join(mkdtempSync(join(tmpdir(), 'bearerd-bench-')), 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
listen bench
  bind 127.0.0.1:${port}
  http-request set-header Authorization "Bearer bench-token"
  server upstream ${new URL(upstream).host}
`,
  );
  const child = spawn('haproxy', ['-f', file, '-db'], { stdio: 'ignore' });
  return { name: 'HAProxy', url: `http://127.0.0.1:${port}`, child };
}

/** Those that can run here: HAProxy only where it is installed. */
export async function startContenders(upstream: string): Promise<Contender[]> {
  const all = [await bearerd(upstream), await bare(upstream)];
  const installed = spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).error === undefined;
  if (installed) all.push(await haproxy(upstream));
  else console.log('HAProxy is not installed: it is left out.');
  return all;
}
