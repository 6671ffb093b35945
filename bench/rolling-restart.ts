/**
 * Restarts under load, and what is lost by it: `node bench/rolling-restart.ts [SECONDS]`. Two instances behind somebody who
 * asks /readyz, and one instance behind a socket that is passed to it. 200 requests a second, one restart after the other.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type MockApi, startMockApi } from '../src/mock/mock-api.ts';
import { PassedSocket } from '../test/support/passed-socket.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const RATE = 200;
const PROBE_MS = 100;
const START = ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', process.execPath, MAIN, 'start'];
const seconds = Number(process.argv[2] ?? 20);

function start(mock: MockApi, env: NodeJS.ProcessEnv, sockets: readonly PassedSocket[] = []): ChildProcess {
  return spawn('/bin/sh', START, {
    env: {
      PATH: process.env.PATH,
      NODE_NO_WARNINGS: '1',
      BEARERD_BASE_URL: mock.url,
      BEARERD_CLIENT_ID: mock.credentials.clientId,
      BEARERD_CLIENT_SECRET: mock.credentials.clientSecret,
      BEARERD_LOG_LEVEL: 'warn',
      LISTEN_FDS: String(sockets.length),
      LISTEN_FDNAMES: 'proxy:admin',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit', ...sockets.map(({ fd }) => fd)],
  });
}

function get(port: number, path: string, agent: http.Agent | false): Promise<number> {
  return new Promise((resolve) => {
    http
      .get({ port, path, agent, timeout: 15_000 }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
      .on('error', () => resolve(0));
  });
}

async function whenReady(port: number): Promise<void> {
  for (;;) {
    if ((await get(port, '/readyz', false)) === 200) return;
    await sleep(20);
  }
}

/** Asks RATE times a second until told; gives how many answers there were, and how many were no 200. */
function load(port: () => number): () => Promise<{ sent: number; lost: number }> {
  const agent = new http.Agent({ keepAlive: true });
  const answers: Promise<number>[] = [];
  const begun = performance.now();
  const timer = setInterval(() => {
    while (answers.length < ((performance.now() - begun) / 1000) * RATE)
      answers.push(get(port(), '/echo', agent));
  }, 5);
  return async () => {
    clearInterval(timer);
    const statuses = await Promise.all(answers);
    agent.destroy();
    return { sent: statuses.length, lost: statuses.filter((status) => status !== 200).length };
  };
}

async function twoInstances(mock: MockApi): Promise<string> {
  const sockets = [0, 1].map(() => ({ proxy: new PassedSocket(), admin: new PassedSocket() }));
  const instances = sockets.map(({ proxy, admin }) => {
    const ports = [proxy.port, admin.port];
    proxy.close(); // Only their numbers are needed.
    admin.close();
    const env = {
      BEARERD_LISTEN: `127.0.0.1:${ports[0]}`,
      BEARERD_ADMIN_LISTEN: `127.0.0.1:${ports[1]}`,
      BEARERD_SHUTDOWN_DELAY: '500ms',
    };
    return { port: ports[0]!, admin: ports[1]!, env, child: start(mock, env), ready: false };
  });
  for (const { admin } of instances) await whenReady(admin);
  const probe = setInterval(() => {
    for (const one of instances)
      void get(one.admin, '/readyz', false).then((status) => (one.ready = status === 200));
  }, PROBE_MS);
  await sleep(2 * PROBE_MS);
  let turn = 0;
  const finish = load(() => {
    const ready = instances.filter((one) => one.ready);
    return (ready.length === 0 ? instances : ready)[turn++ % Math.max(1, ready.length)]!.port;
  });
  const restarts = await restartFor(async (n) => {
    const one = instances[n % 2]!;
    one.child.kill('SIGTERM');
    await once(one.child, 'close');
    one.child = start(mock, one.env);
    await whenReady(one.admin);
    await sleep(3 * PROBE_MS);
  });
  const { sent, lost } = await finish();
  clearInterval(probe);
  for (const { child } of instances) child.kill('SIGKILL');
  return `two instances, a shutdown delay of 500 ms: ${restarts} restarts, ${sent} requests, ${lost} lost`;
}

async function passedSocket(mock: MockApi): Promise<string> {
  const sockets = [new PassedSocket(), new PassedSocket()] as const;
  let child = start(mock, {}, sockets);
  await sleep(500);
  await whenReady(sockets[1].port);
  const finish = load(() => sockets[0].port);
  const restarts = await restartFor(async () => {
    child.kill('SIGTERM');
    await once(child, 'close');
    child = start(mock, {}, sockets);
    await sleep(1_000);
    await whenReady(sockets[1].port);
  });
  const { sent, lost } = await finish();
  child.kill('SIGKILL');
  for (const socket of sockets) socket.close();
  return `one instance behind a passed socket: ${restarts} restarts, ${sent} requests, ${lost} lost`;
}

async function restartFor(restart: (n: number) => Promise<void>): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  while (performance.now() < end) await restart(count++);
  return count;
}

const mock = await startMockApi();
console.log(await twoInstances(mock));
console.log(await passedSocket(mock));
await mock.close();
