import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';
import { PATIENCE_MS, until } from './raw-client.ts';

const PROGRAM = ['/usr/bin/redis-server', '/usr/bin/valkey-server', '/usr/local/bin/redis-server'].find(
  existsSync,
);

/** For a test's `skip`. */
export const NO_REDIS = PROGRAM === undefined && 'redis-server is not installed';

/** A real redis-server on a unix socket in a folder of its own, with a log of all writes. */
export class RedisServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'bearerd-redis-'));
  readonly socket = join(this.folder, 'redis.sock');
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  /** @param settings more words of a command line */
  constructor(settings: readonly string[] = []) {
    this.#settings = settings;
  }

  static async startedFor(t: Lifetime, ...settings: string[]): Promise<RedisServer> {
    const server = new RedisServer(settings);
    t.teardown(() => server.remove());
    await server.start();
    return server;
  }

  get url(): string {
    return `unix:${this.socket}`;
  }

  async start(): Promise<void> {
    const where = ['--port', '0', '--unixsocket', this.socket, '--dir', this.folder, '--save', '""'];
    const log = ['--appendonly', 'yes', '--appendfsync', 'no', '--logfile', join(this.folder, 'log')];
    this.#process = spawn(PROGRAM!, [...where, ...log, ...this.#settings], { stdio: 'ignore' });
    const answers = async () => /PONG|NOAUTH/.test(await this.command('PING').catch(() => ''));
    await until(answers, 'redis-server does not start');
  }

  /** Without a word to anybody. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    rmSync(this.socket, { force: true });
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** One command in words; the answer as it is sent. */
  command(...words: (string | Buffer)[]): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(this.socket, () => socket.write(encode(words)));
      socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('no answer')));
      socket.on('data', (chunk) => {
        text += chunk;
        if (isWhole(text)) socket.end();
      });
      socket.on('close', () => resolve(text)).on('error', reject);
    });
  }

  async keys(pattern = '*'): Promise<string[]> {
    return [...(await this.command('KEYS', pattern)).matchAll(/^\$\d+\r\n(.*)\r$/gm)].map(([, key]) => key!);
  }

  /** What it has written to its folder, each byte a character. */
  async kept(): Promise<{ readonly rdb: string; readonly aof: string }> {
    await this.command('SAVE');
    const log = join(this.folder, 'appendonlydir');
    const aof = readdirSync(log).map((name) => readFileSync(join(log, name), 'latin1'));
    return { rdb: readFileSync(join(this.folder, 'dump.rdb'), 'latin1'), aof: aof.join('') };
  }

  /** Everything that anybody tells the server from now on. */
  async monitor(): Promise<{ readonly text: () => string; readonly socket: Socket }> {
    let text = '';
    const socket = connect(this.socket, () => socket.write(encode(['MONITOR'])));
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
    await until(() => text.startsWith('+OK'), 'the engine does not publish');
    return { text: () => text, socket };
  }
}

function encode(words: readonly (string | Buffer)[]): Buffer {
  const parts = words
    .map((word) => Buffer.from(word as string))
    .flatMap((word) => [`$${word.length}\r\n`, word, '\r\n']);
  return Buffer.concat([`*${words.length}\r\n`, ...parts].map((part) => Buffer.from(part as string)));
}

/** The first lines of the protocol say how long the rest is; good enough for what is asked here. */
function isWhole(text: string): boolean {
  const lines = text.split('\r\n');
  const first = lines[0] ?? '';
  if (lines.length < 2) return false;
  if (first.startsWith('*')) return lines.length >= 2 + 2 * Number(first.slice(1));
  return !first.startsWith('$') || first === '$-1' || lines.length >= 3;
}

/** Redis speaks TLS only where it was built with it. */
export function speaksTls(): boolean {
  return PROGRAM !== undefined && spawnSync('ldd', [PROGRAM]).stdout?.includes('libssl') === true;
}
