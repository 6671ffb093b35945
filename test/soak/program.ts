import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../support/cli.ts';
import { request } from '../support/gateway.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { isRunning } from '../support/processes.ts';
import { ask, until, within } from '../support/raw-client.ts';
import type { Gauge } from './gauge.ts';
import { LIMITS } from './scale.ts';

const GAUGE = fileURLToPath(new URL('gauge.ts', import.meta.url));
/** Longer than a fault that stops the process. */
const PATIENCE_MS = 20_000;

/** bearerd as users run it, except for the gauge of its heap. */
export class Program {
  /** How often each log line came, without lines of requests. */
  readonly lines: Record<string, number> = {};
  port = 0;
  adminPort = 0;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!])
      createInterface({ input: stream }).on('line', (line) => this.#read(line));
  }

  static async startedFor(t: Lifetime, config: string, env: NodeJS.ProcessEnv): Promise<Program> {
    const { PATH, HOME } = process.env;
    const flags = ['--expose-gc', '--import', GAUGE];
    const child = spawn(process.execPath, [...flags, MAIN, 'start', '--config', config], {
      env: { PATH, HOME, BEARERD_LOG_FORMAT: 'json', ...LIMITS, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const program = new Program(child);
    await until(() => program.lines['info logged in: a fresh access token'], 'bearerd does not log in');
    return program;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get alive(): boolean {
    return isRunning(this.pid);
  }

  get openFiles(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async gauge(): Promise<Gauge> {
    this.#child.send('gauge');
    const [gauge] = await within(PATIENCE_MS, once(this.#child, 'message'), () => 'bearerd does not answer');
    return gauge;
  }

  /** The sum of a metric's series whose labels hold this text. */
  async metric(name: string, label = ''): Promise<number> {
    const { text } = await ask(this.adminPort, request('GET', '/metrics'));
    const series = text.split('\n').filter((line) => /^\w+/.exec(line)?.[0] === name && line.includes(label));
    return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  internalErrors(): Promise<number> {
    return this.metric('bearerd_internal_errors_total');
  }

  /** Stops bearerd; gives the exit code. */
  async end(): Promise<number | null> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const [code] = await within(PATIENCE_MS + 20_000, exit, () => 'bearerd does not end');
    return code;
  }

  #read(line: string): void {
    if (line.endsWith('"msg":"request"}')) return; // There are five hundred of these a second, and the load records them.
    const { level, msg, urls, admin } = asObject(line);
    const key = `${level} ${msg}`;
    this.lines[key] = (this.lines[key] ?? 0) + 1;
    if (urls !== undefined) this.port = Number(new URL(urls[0]!).port);
    if (admin !== undefined) this.adminPort = Number(new URL(admin[0]!).port);
    if (level === 'error' || level === undefined) process.stderr.write(`${line}\n`);
  }
}

function asObject(line: string): { level?: string; msg?: string; urls?: string[]; admin?: string[] } {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}
