import { setTimeout as sleep } from 'node:timers/promises';
import { Gateway } from '../../src/app/gateway.ts';
import type { Clock } from '../../src/base/clock.ts';
import { type Event, EventBus } from '../../src/base/events.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/observe/log.ts';
import { until } from '../support/raw-client.ts';
import { leaks } from './canaries.ts';

/**
 * What the fuzzers have in common. Each is a process of its own, so that it shows whether it stays alive; its log is
 * the product's own on stdout, at the level `trace`. Case n has the seed FUZZ_SEED + n: a case is played again with
 * its seed and a count of 1.
 */
export interface Figures {
  readonly cases: number;
  /** What was sent, or tried, in all. */
  readonly sent: number;
  /** What of it was answered. */
  readonly answered: number;
  readonly faults: readonly string[];
  readonly notes: Readonly<Record<string, number>>;
}

const MOST_FAULTS = 20;
const LOOK_MS = 50;
const LONGEST_BLOCK_MS = 1_000;

export class Run {
  readonly seed = Number(process.env.FUZZ_SEED ?? 1);
  readonly #count = Number(process.env.FUZZ_COUNT ?? 1);
  readonly #endsAtMs = performance.now() + Number(process.env.FUZZ_LIMIT_S ?? 3600) * 1000;
  readonly #underWay = new Set<number>();
  readonly #faults: string[] = [];
  readonly notes: Record<string, number> = {};
  cases = 0;
  sent = 0;
  answered = 0;

  /** Says that something is wrong, and in which case, or in which of those under way. */
  readonly fault = (what: string, seed?: number): void => {
    if (this.#faults.length >= MOST_FAULTS) return;
    const where = seed ?? [...this.#underWay].join(' ');
    this.#faults.push(`seed ${where}: ${what}`);
  };

  note(name: string, by = 1): void {
    this.notes[name] = (this.notes[name] ?? 0) + by;
  }

  get #goesOn(): boolean {
    return (
      this.#faults.length < MOST_FAULTS &&
      this.answered < this.#count &&
      this.cases < this.#count &&
      performance.now() < this.#endsAtMs
    );
  }

  /** Nothing that anybody sends may keep the process busy for so long that others notice. */
  #watchLoop(): NodeJS.Timeout {
    let [at, used] = [performance.now(), process.cpuUsage()];
    return setInterval(() => {
      const late = performance.now() - at - LOOK_MS;
      const { user, system } = process.cpuUsage(used);
      if (late > LONGEST_BLOCK_MS && (user + system) / 1000 > 0.8 * late)
        this.fault(`busy for ${Math.round(late)} ms`);
      [at, used] = [performance.now(), process.cpuUsage()];
    }, LOOK_MS);
  }

  /** Runs cases until the count of answers is reached, so many at a time. */
  async all(parallel: number, one: (seed: number) => Promise<void>): Promise<void> {
    const watch = this.#watchLoop();
    const lane = async () => {
      while (this.#goesOn) {
        const seed = this.seed + this.cases++;
        this.#underWay.add(seed);
        await one(seed).catch((error) => this.fault(`the case failed: ${String(error?.stack)}`, seed));
        this.#underWay.delete(seed);
      }
    };
    await Promise.all(Array.from({ length: parallel }, lane));
    clearInterval(watch);
  }

  /** Tells the parent; nothing holds the process any more then. */
  report(): void {
    const { cases, sent, answered, notes } = this;
    const figures: Figures = { cases, sent, answered, notes, faults: this.#faults };
    process.send?.(figures, () => process.disconnect?.());
  }
}

export interface FuzzedGateway {
  readonly port: number;
  readonly adminPort: number;
  readonly gateway: Gateway;
}

/** The whole proxy, with its log on stdout. An internal error, or a canary in an event, is a fault. */
export async function startGateway(
  run: Run,
  yaml: string,
  env: Readonly<Record<string, string>> = {},
  { watch, clock }: { watch?: (event: Event) => void; clock?: Clock } = {},
): Promise<FuzzedGateway> {
  const config = await loadConfig({
    env: {
      BEARERD_LISTEN: '127.0.0.1:0',
      BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
      BEARERD_LOG_LEVEL: 'trace',
      BEARERD_IDLE_TIMEOUT: '2s',
      BEARERD_RESPONSE_TIMEOUT: '10s',
      ...env,
    },
    readFile: (path) => {
      if (path.endsWith('/bearerd.yaml') && path.startsWith('/nowhere/')) return yaml;
      throw Object.assign(new Error(path), { code: 'ENOENT' });
    },
    cwd: '/nowhere',
  });
  const log = await createLog(config.log);
  const observe = (event: Event) => {
    log.observe(event);
    watch?.(event);
    if (event.type === 'internal-error')
      run.fault(`internal error: ${String((event.cause as Error)?.stack)}`);
    if (event.type === 'request') run.note(`status ${event.status}`);
    if (event.type === 'login-succeeded') run.note('logins');
  };
  const gateway = new Gateway({
    config,
    events: new EventBus(observe),
    droppedLogLines: log.dropped,
    ...(clock && { clock }),
  });
  await gateway.start();
  const port = (urls: readonly string[]) => Number(new URL(urls[0]!).port);
  return { gateway, port: port(gateway.urls), adminPort: port(gateway.adminUrls) };
}

/** Waits until it is ready: every session credential has its token. */
export async function ready({ gateway }: FuzzedGateway): Promise<void> {
  await until(() => gateway.readiness.ready, 'no login', 60_000);
}

/** It answers a good request, and shows no secret where it shows itself. */
export async function checkAlive(run: Run, { port, adminPort }: FuzzedGateway, key?: string): Promise<void> {
  const headers = key === undefined ? {} : { 'x-bearerd-key': key };
  // On a machine that stands still for seconds, a timeout says nothing yet.
  for (let tries = 5; ; tries--) {
    const { status } = await fetch(`http://127.0.0.1:${port}/open/alive`, { headers });
    if (status === 200) break;
    if (tries === 0) return run.fault(`a good request gets ${status}`);
    await sleep(500);
  }
  for (const page of ['/status', '/metrics', '/readyz', '/']) {
    const answer = await fetch(`http://127.0.0.1:${adminPort}${page}`, { headers });
    if (leaks(await answer.text())) run.fault(`${page} shows a secret`);
  }
}
