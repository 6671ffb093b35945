import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { MAIN } from './cli.ts';
import { CA_FILE, type CountingUpstream } from './counting-upstream.ts';
import { saidBy } from './internal-errors.ts';
import { happens, RawClient, until } from './raw-client.ts';
import type { Work } from './work-counters.ts';

const COUNTERS = fileURLToPath(new URL('work-counters.ts', import.meta.url));

/** A running bearerd that tells what it has done. */
export class CountedProcess {
  readonly #child: ChildProcess;
  readonly #said: () => string;

  private constructor(t: Test, child: ChildProcess) {
    this.#child = child;
    this.#said = saidBy(t, child);
  }

  /** What it has logged; all of it is ASCII. */
  get log(): string {
    return this.#said();
  }

  static async before(t: Test, { url }: CountingUpstream): Promise<CountedProcess> {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, ['--import', COUNTERS, MAIN, 'start'], {
      env: {
        PATH,
        HOME,
        BEARERD_BASE_URL: url,
        BEARERD_CLIENT_ID: 'id',
        BEARERD_CLIENT_SECRET: 'client-secret',
        BEARERD_LISTEN: '127.0.0.1:0',
        BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
        BEARERD_TLS_CA_FILE: CA_FILE,
      },
      cwd: t.testdir(),
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const counted = new CountedProcess(t, child);
    await until(() => counted.log.includes('logged in'), 'no login');
    return counted;
  }

  /** @param wish `watch` begins to count timers and promises. */
  async work(wish: 'count' | 'watch' = 'count'): Promise<Work> {
    const told = happens(this.#child, 'message');
    this.#child.send(wish);
    const [work] = await told;
    return work as Work;
  }

  /** Sends a request so many times; gives in how many pieces the answers came. Every log line is out then. */
  async load(bytes: Buffer, requests: number, connections: number): Promise<number> {
    const lines = this.#lines() + requests;
    const port = Number(/"urls":\["http:\/\/127\.0\.0\.1:(\d+)/.exec(this.log)![1]);
    let pieces = 0;
    let left = requests;
    const send = async () => {
      const client = await RawClient.to(port, { keep: false });
      client.socket.on('data', () => pieces++);
      while (left-- > 0) await client.send(bytes).response();
      client.close();
    };
    await Promise.all(Array.from({ length: connections }, send));
    await until(() => this.#lines() >= lines, 'a request has no line');
    return pieces;
  }

  #lines(): number {
    return this.log.split('"msg":"request"').length - 1;
  }
}
