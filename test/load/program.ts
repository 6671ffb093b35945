import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { MAIN } from '../support/cli.ts';
import { residentMib } from '../support/processes.ts';
import { until } from '../support/raw-client.ts';

const LOOK_MS = 25;

/** bearerd as users run it; its log is read here. */
export class Program {
  port = 0;
  adminPort = 0;
  readonly #child: ChildProcess;
  #loggedIn = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    createInterface({ input: child.stdout! }).on('line', (line) => this.#read(line));
  }

  static async started(upstream: string, env: NodeJS.ProcessEnv = {}): Promise<Program> {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, ['--max-semi-space-size=8', MAIN, 'start'], {
      env: {
        PATH,
        HOME,
        MALLOC_ARENA_MAX: '1', // Like the image.
        BEARERD_BASE_URL: upstream,
        BEARERD_CLIENT_ID: 'id',
        BEARERD_CLIENT_SECRET: 'secret',
        BEARERD_LISTEN: '127.0.0.1:0',
        BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
        BEARERD_LOG_FORMAT: 'json',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.on('exit', () => child.kill('SIGKILL'));
    const program = new Program(child);
    await until(() => program.#loggedIn && program.adminPort > 0, 'bearerd has not logged in', 30_000);
    return program;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get residentMib(): number {
    return residentMib(this.#child.pid!, 'VmRSS');
  }

  /** The highest resident memory while `work` runs. */
  async highestMib(something: Promise<unknown>): Promise<number> {
    let highest = this.residentMib;
    const timer = setInterval(() => {
      highest = Math.max(highest, this.residentMib);
    }, LOOK_MS);
    await something.finally(() => clearInterval(timer));
    return Math.max(highest, this.residentMib);
  }

  async internalErrors(): Promise<number> {
    const metrics = await (await fetch(`http://127.0.0.1:${this.adminPort}/metrics`)).text();
    return Number(/^bearerd_internal_errors_total (\d+)/m.exec(metrics)![1]);
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  #read(line: string): void {
    if (line.includes('"msg":"request"')) return;
    if (line.includes('logged in')) this.#loggedIn = true;
    this.port ||= Number(/"urls":\["http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? 0);
    this.adminPort ||= Number(/"admin":\["http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? 0);
  }
}
