import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { COMPILED, MAIN, type Running, run, start } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { request } from '../support/gateway.ts';
import { CA_FILE, Http2Upstream } from '../support/h2-upstream.ts';
import { saidBy } from '../support/internal-errors.ts';
import { ask, RawClient, until } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';
import { whyPage } from './why-pages.ts';

/** A fault of the whole process, or of what it reads: how it is made, and what `bearerd why` says of it then. */
export interface ProcessFault {
  readonly number: number;
  readonly title: string;
  readonly says: RegExp;
  /** Makes it. @returns the page */
  readonly page: (t: Test) => Promise<string>;
}

interface Served extends Running {
  readonly where: number | string;
  readonly admin: string;
  readonly env: NodeJS.ProcessEnv;
  /** What `bearerd why` says. */
  readonly why: () => Promise<string>;
  readonly get: () => Promise<number>;
}

const ACCOUNT = { BEARERD_CLIENT_ID: 'sa', BEARERD_CLIENT_SECRET: 'secret', BEARERD_LOG_FORMAT: 'json' };

async function environment(baseUrl: string, more: NodeJS.ProcessEnv = {}): Promise<NodeJS.ProcessEnv> {
  return {
    BEARERD_BASE_URL: baseUrl,
    ...ACCOUNT,
    BEARERD_LISTEN: `127.0.0.1:${await freePort()}`,
    BEARERD_ADMIN_LISTEN: `127.0.0.1:${await freePort()}`,
    ...more,
  };
}

async function served(t: Test, env: NodeJS.ProcessEnv, cwd?: string): Promise<Served> {
  const running = start(t, ['start'], env, cwd);
  await running.until(/logged in/);
  const listen = env.BEARERD_LISTEN!;
  const where = listen.startsWith('unix:') ? listen.slice('unix:'.length) : Number(listen.split(':')[1]);
  const admin = env.BEARERD_ADMIN_LISTEN!;
  return {
    ...running,
    where,
    admin,
    env,
    why: () => whyPage(t, admin, { BEARERD_LISTEN: listen }),
    get: async () => {
      const client = await RawClient.to(where, { keep: false });
      const { status } = await client.send(request('GET', '/thing')).response();
      client.close();
      return status;
    },
  };
}

const NOT_THERE = /nothing listens at [\s\S]*ended or was killed[\s\S]*137/;

/** An upstream that holds each request until it is let go. */
async function holding(t: Test) {
  const upstream = await RawUpstream.startedFor(t);
  const { promise, resolve: letGo } = Promise.withResolvers<Buffer>();
  upstream.onRequest = () => promise;
  return { upstream, letGo: () => letGo(ok('served')) };
}

const draining: ProcessFault = {
  number: 34,
  title: 'SIGTERM while a request is under way',
  says: /Now: bearerd is stopping \(SIGTERM\): it finishes the requests that were under way \(1\)/,
  page: async (t) => {
    const { upstream, letGo } = await holding(t);
    const proxy = await served(t, await environment(upstream.url));
    const answer = proxy.get();
    await until(() => upstream.requests.length === 1, 'no request');
    proxy.child.kill('SIGTERM');
    await proxy.until(/stopping: requests/);
    const page = await proxy.why();
    letGo();
    await answer;
    await proxy.finished;
    return page;
  },
};

const stopped: ProcessFault = {
  number: 34,
  title: 'SIGTERM, and the process has ended',
  says: NOT_THERE,
  page: async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const proxy = await served(t, await environment(upstream.url));
    proxy.child.kill('SIGTERM');
    await proxy.finished;
    return proxy.why();
  },
};

/** A folder with a name that is short enough for a socket. */
function shortFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'bearerd-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const killed: ProcessFault = {
  number: 35,
  title: 'SIGKILL, and nothing starts it again',
  says: NOT_THERE,
  page: async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const proxy = await served(t, await environment(upstream.url));
    proxy.child.kill('SIGKILL');
    await proxy.finished;
    return proxy.why();
  },
};

const restarted: ProcessFault = {
  number: 35,
  title: 'SIGKILL, and it was started again on the same socket',
  says: /Now: all credentials are ready[\s\S]*socket \S+b\.sock of a process that was killed or crashed, and replaced it/,
  page: async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const socket = `unix:${join(shortFolder(t), 'b.sock')}`;
    const env = await environment(upstream.url, { BEARERD_LISTEN: socket });
    const first = await served(t, env);
    first.child.kill('SIGKILL');
    await first.finished;
    const second = await served(t, env);
    await second.get();
    return second.why();
  },
};

const configuration = (routes: string) => `credentials:
  token: { type: session, clientId: sa, clientSecret: { file: secret } }
routes: ${routes}
`;

/** A proxy whose configuration and secret lie in files. */
async function fromFiles(t: Test) {
  const folder = t.testdir({
    'bearerd.yaml': configuration('[{ prefix: /, credential: token }]'),
    secret: 's',
  });
  const upstream = await RawUpstream.startedFor(t);
  const { BEARERD_CLIENT_ID: _i, BEARERD_CLIENT_SECRET: _s, ...env } = await environment(upstream.url);
  const proxy = await served(t, env, folder);
  return { proxy, path: (name: string) => join(folder, name) };
}

const badReload: ProcessFault = {
  number: 36,
  title: 'SIGHUP with a faulty configuration',
  says: /- A new configuration \(SIGHUP\) was refused, and the one before is still in force: [\s\S]*bearerd check/,
  page: async (t) => {
    const { proxy, path } = await fromFiles(t);
    writeFileSync(path('bearerd.yaml'), configuration('[{ prefix: /, credential: tokn }]'));
    proxy.child.kill('SIGHUP');
    await proxy.until(/the new configuration is faulty/);
    await proxy.get();
    return proxy.why();
  },
};

const goodReload: ProcessFault = {
  number: 36,
  title: 'SIGHUP with a faulty configuration, and then with a good one',
  says: /all credentials are ready, and nothing is known to be wrong[\s\S]*A new configuration is in force \(SIGHUP\)/,
  page: async (t) => {
    const { proxy, path } = await fromFiles(t);
    writeFileSync(path('bearerd.yaml'), configuration('[{ prefix: /, credential: tokn }]'));
    proxy.child.kill('SIGHUP');
    await proxy.until(/the new configuration is faulty/);
    writeFileSync(path('bearerd.yaml'), configuration('[{ prefix: /things, credential: token }]'));
    proxy.child.kill('SIGHUP');
    await proxy.until(/configuration reloaded/);
    return proxy.why();
  },
};

const lostSecret: ProcessFault = {
  number: 36,
  title: "a secret's file is gone",
  says: /- The secret file \S+secret can't be used: [\s\S]*What it held before stays in use[\s\S]*What to do: Put the file back/,
  page: async (t) => {
    const { proxy, path } = await fromFiles(t);
    renameSync(path('secret'), path('elsewhere'));
    await proxy.until(/a secret file is not usable/);
    const page = await proxy.why();
    renameSync(path('elsewhere'), path('secret'));
    await proxy.until(/the secret file is usable again/);
    return page;
  },
};

const newAuthority: ProcessFault = {
  number: 24,
  title: "the upstream's authority changes, and the file with it",
  says: /authority that this machine doesn't know[\s\S]*This is over since[\s\S]*nothing else is known to be wrong[\s\S]*A new configuration is in force/,
  page: async (t) => {
    const folder = t.testdir({});
    const file = join(folder, 'ca.pem');
    copyFileSync(CA_FILE.replace('ca.pem', 'selfsigned.pem'), file);
    const upstream = await Http2Upstream.startedFor(t);
    const env = await environment(upstream.url.replace('127.0.0.1', 'localhost'), {
      BEARERD_TLS_CA_FILE: file,
      BEARERD_ROUTES: '/=none',
    });
    const running = start(t, ['start'], env);
    await running.until(/listening on/);
    const port = Number(env.BEARERD_LISTEN!.split(':')[1]);
    t.equal((await ask(port, request('GET', '/thing'))).status, 502);
    copyFileSync(CA_FILE, file);
    running.child.kill('SIGHUP');
    await running.until(/configuration reloaded/);
    t.equal((await ask(port, request('GET', '/thing'))).status, 200);
    return whyPage(t, env.BEARERD_ADMIN_LISTEN!);
  },
};

const noReader: ProcessFault = {
  number: 37,
  title: 'the reader of the log has gone',
  says: /- \d+ lines? of the log could not be written: the program that read them has ended/,
  page: async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const proxy = await served(t, await environment(upstream.url));
    proxy.child.stdout!.destroy();
    const page = async () => {
      await proxy.get();
      const said = await proxy.why();
      return noReader.says.test(said) ? said : undefined;
    };
    return (await until(page, 'the lost lines are not told of'))!;
  },
};

/** A program of a shell that starts bearerd as `"$NODE" "$MAIN" start`. */
async function shelled(t: Test, line: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn('sh', ['-c', line], {
    env: { PATH: process.env.PATH, NODE: process.execPath, MAIN, ...COMPILED, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  saidBy(t, child);
  const port = Number(env.BEARERD_ADMIN_LISTEN!.split(':')[1]);
  const isReady = async () => (await ask(port, request('GET', '/readyz'))).status === 200;
  await until(() => isReady().catch(() => false), 'it is not ready');
}

const fullDisk: ProcessFault = {
  number: 38,
  title: 'the disk of the log is full',
  says: /- \d+ lines? of the log could not be written: the disk is full[\s\S]*What to do: Make room/,
  page: async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const env = await environment(upstream.url);
    await shelled(t, 'exec "$NODE" "$MAIN" start >/dev/full', env);
    await ask(Number(env.BEARERD_LISTEN!.split(':')[1]), request('GET', '/thing'));
    return whyPage(t, env.BEARERD_ADMIN_LISTEN!);
  },
};

const fewFiles: ProcessFault = {
  number: 39,
  title: 'no more files can be opened',
  says: /no room for another connection[\s\S]*503 overloaded[\s\S]*The limit of open files allows only 24 clients[\s\S]*ulimit -n/,
  page: async (t) => {
    const { upstream, letGo } = await holding(t);
    const env = await environment(upstream.url);
    await shelled(t, 'ulimit -n 128; exec "$NODE" "$MAIN" start', env);
    const port = Number(env.BEARERD_LISTEN!.split(':')[1]);
    const clients = await Promise.all(Array.from({ length: 100 }, () => RawClient.to(port)));
    const answers = clients.map((client) => client.send(request('GET', '/')).response());
    await until(() => upstream.requests.length === 24, 'as many requests as fit are under way');
    const page = await whyPage(t, env.BEARERD_ADMIN_LISTEN!);
    letGo();
    await Promise.all(answers);
    for (const client of clients) client.close();
    return page;
  },
};

const littleMemory: ProcessFault = {
  number: 40,
  title: 'there is little memory',
  says: /heap \d+ MiB of at most \d{2,3} MiB\./,
  page: async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const body = Buffer.alloc(1 << 20, 'x');
    upstream.onRequest = () => ok(body);
    const env = { ...(await environment(upstream.url)), NODE_OPTIONS: '--max-old-space-size=64' };
    const proxy = await served(t, env);
    const readers = await Promise.all(
      Array.from({ length: 100 }, () => RawClient.to(proxy.where, { keep: false })),
    );
    for (const reader of readers) {
      reader.socket.pause();
      reader.send(request('GET', '/held'));
    }
    await until(() => upstream.requests.length === readers.length, 'not all are under way');
    const page = await proxy.why();
    for (const reader of readers) reader.close();
    return page;
  },
};

const STOPPED_MS = 2_500;

const paused: readonly ProcessFault[] = [
  {
    number: 41,
    title: 'the process is stopped',
    says: /gives no complete answer in time[\s\S]*kill -STOP[\s\S]*kill -CONT/,
    page: async (t) => {
      const upstream = await RawUpstream.startedFor(t);
      const proxy = await served(t, await environment(upstream.url));
      proxy.child.kill('SIGSTOP');
      const page = await proxy.why();
      proxy.child.kill('SIGCONT');
      return page;
    },
  },
  {
    number: 41,
    title: 'the process was stopped for a while',
    says: /The process did not run for \d+(?:\.\d)? s[\s\S]*Requests waited/,
    page: async (t) => {
      const upstream = await RawUpstream.startedFor(t);
      const proxy = await served(t, await environment(upstream.url));
      await proxy.get();
      await proxy.until(/"msg":"request"/); // There is traffic, as far as bearerd knows.
      proxy.child.kill('SIGSTOP');
      const waiting = proxy.get();
      await sleep(STOPPED_MS);
      proxy.child.kill('SIGCONT');
      await waiting;
      const said = async () => {
        const page = await proxy.why();
        return /did not run/.test(page) ? page : undefined;
      };
      return (await until(said, 'the pause is not told of'))!;
    },
  },
];

/** A server that is not bearerd. */
async function stranger(t: Test, listen: string): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.0 200 OK\r\n\r\nhello'));
  t.teardown(() => server.close());
  const port = Number(listen.split(':')[1]);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

const taken: readonly ProcessFault[] = [
  {
    number: 44,
    title: "another program has the proxy's port",
    says: /nothing listens at [\s\S]*Something else listens at 127\.0\.0\.1:\d+, the address of the proxy/,
    page: async (t) => {
      const env = await environment('https://api.example.com');
      await stranger(t, env.BEARERD_LISTEN!);
      const { code } = await run(t, ['start'], env);
      t.equal(code, 71);
      return whyPage(t, env.BEARERD_ADMIN_LISTEN!, { BEARERD_LISTEN: env.BEARERD_LISTEN });
    },
  },
  {
    number: 44,
    title: 'another program has the port of the admin listener',
    says: /is not bearerd: [\s\S]*exit code 71/,
    page: async (t) => {
      const env = await environment('https://api.example.com');
      await stranger(t, env.BEARERD_ADMIN_LISTEN!);
      t.equal((await run(t, ['start'], env)).code, 71);
      return whyPage(t, env.BEARERD_ADMIN_LISTEN!);
    },
  },
  {
    number: 44,
    title: 'a second copy was started, and the first one runs',
    says: /all credentials are ready[\s\S]*\(process \d+\) runs since/,
    page: async (t) => {
      const upstream = await RawUpstream.startedFor(t);
      const proxy = await served(t, await environment(upstream.url));
      t.equal((await run(t, ['start'], proxy.env)).code, 71);
      return proxy.why();
    },
  },
];

export const PROCESS_FAULTS: readonly ProcessFault[] = [
  newAuthority,
  draining,
  stopped,
  killed,
  restarted,
  badReload,
  goodReload,
  lostSecret,
  noReader,
  fullDisk,
  fewFiles,
  littleMemory,
  ...paused,
  ...taken,
];
