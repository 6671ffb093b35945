import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sumOf } from './login-reasons.ts';
import type { Command, Order, Report } from './part.ts';

const PART = fileURLToPath(new URL('part.ts', import.meta.url));

/** One process of the fleet. */
class Part {
  readonly #child: ChildProcess = fork(PART, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });

  constructor() {
    this.#child.setMaxListeners(0);
  }

  send(command: Command): void {
    this.#child.send(command);
  }

  ask<T extends Report['did']>(did: T, command: Command) {
    this.send(command);
    return new Promise<Extract<Report, { did: T }>>((resolve, reject) => {
      this.#child.once('exit', (code) => reject(new Error(`a part of the fleet ended with ${code}`)));
      this.#child.on('message', (report: Report) => {
        if (report.did === did) resolve(report as Extract<Report, { did: T }>);
      });
    });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** All instances, in several processes. */
export class Fleet {
  readonly #parts: readonly Part[];

  constructor(processes: number, order: Order) {
    this.#parts = Array.from({ length: processes }, () => new Part());
    for (const part of this.#parts) part.send({ do: 'begin', order });
  }

  /** @param all whether every process gets the command, or only the first */
  tell(command: Command, all = true): void {
    for (const part of all ? this.#parts : this.#parts.slice(0, 1)) part.send(command);
  }

  /** Resolves when each instance has a token with a higher number. @returns milliseconds until then */
  async watch(upTo: number): Promise<number> {
    const reports = await Promise.all(this.#parts.map((part) => part.ask('watch', { do: 'watch', upTo })));
    return Math.max(...reports.map(({ tookMs }) => tookMs));
  }

  async end() {
    const reports = await Promise.all(this.#parts.map((part) => part.ask('end', { do: 'end' })));
    const sum = (of: 'requests' | 'failed' | 'internalErrors') =>
      reports.reduce((total, { counts }) => total + counts[of], 0);
    return {
      requests: sum('requests'),
      failed: sum('failed'),
      internalErrors: sum('internalErrors'),
      failures: reports.flatMap(({ counts }) => counts.failures).slice(0, 20),
      reasons: sumOf(reports.map((report) => report.reasons)),
      lagMs: {
        p99: Math.max(...reports.map((report) => report.lagMs.p99)),
        max: Math.max(...reports.map((report) => report.lagMs.max)),
      },
      tokens: reports.flatMap(({ tokens }) => tokens),
    };
  }

  kill(): void {
    for (const part of this.#parts) part.kill();
  }
}
