import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/base/clock.ts';
import type { Event } from '../../src/base/events.ts';
import { RedisEngine } from '../../src/integrations/fleet/redis-engine.ts';
import { isGood } from './issuer.ts';
import { LoginReasons } from './login-reasons.ts';
import { type Member, real, simulated } from './member.ts';
import { clockOf, type Pace, realSpan, simulatedMs } from './pace.ts';
import { PacedEngine } from './paced-engine.ts';

// Runs as a process: a part of the fleet. The simulated members of one process share a connection to the engine.

export interface Order {
  readonly pace: Pace;
  readonly socket: string;
  readonly issuer: string;
  readonly simulated: number;
  readonly real: number;
  /** The members start within this time, as under an orchestrator. */
  readonly spreadMs: number;
}

export type Command =
  | { readonly do: 'begin'; readonly order: Order }
  | { readonly do: 'revoked'; readonly upTo: number }
  /** Measures how long it takes until each member has a token with a higher number. */
  | { readonly do: 'watch'; readonly upTo: number }
  /** One member calls the API. */
  | { readonly do: 'call' }
  /** Asks one member, or all, for a login. */
  | { readonly do: 'login'; readonly all: boolean }
  | { readonly do: 'end' };

export type Report =
  | { readonly did: 'watch'; readonly tookMs: number }
  | {
      readonly did: 'end';
      readonly counts: Counts;
      readonly tokens: readonly number[];
      readonly reasons: Readonly<Record<string, number>>;
      /**
       * How late the process was, in real time. Multiplied by the rate, it is how long an instance seems to have slept.
       */
      readonly lagMs: { readonly p99: number; readonly max: number };
    };

export interface Counts {
  requests: number;
  failed: number;
  internalErrors: number;
  readonly failures: string[];
}

/** The limit for a command in simulated time, and its least real length, which is more than the machine's delays. */
const COMMAND_LIMIT_MS = 1_000;
const LEAST_LIMIT_MS = 250;
const CALL_EVERY_MS = 60_000;
const WATCH_MS = 20_000;

const counts: Counts = { requests: 0, failed: 0, internalErrors: 0, failures: [] };
const tokens: number[] = [];
const members: Member[] = [];
const reasons = new LoginReasons();
const lag = monitorEventLoopDelay({ resolution: 1 });
const ended = new AbortController();
let revokedUpTo = 0;
let order: Order;
let engine: PacedEngine;

function countFor(index: number): (event: Event) => void {
  tokens[index] = 0;
  const follow = reasons.member();
  return (event) => {
    follow(event);
    if (event.type === 'login-succeeded') tokens[index]!++;
    if (event.type === 'internal-error') counts.internalErrors++;
  };
}

function openEngine(clock: Clock): PacedEngine {
  const server = { address: { path: order.socket }, database: 0 };
  const engine = new RedisEngine({
    server,
    tls: {},
    probe: 'bearerd:probe',
    onState: () => {},
    clock,
    get commandLimitMs() {
      return Math.max(LEAST_LIMIT_MS, realSpan(order.pace, COMMAND_LIMIT_MS));
    },
  });
  return new PacedEngine(engine, order.pace);
}

async function begin(given: Order): Promise<void> {
  order = given;
  const clock = clockOf(order.pace);
  void clock.sleep(2 * order.spreadMs).then(() => lag.enable()); // By then all have started.
  engine = openEngine(clock);
  const add = async (index: number) => {
    await clock.sleep(Math.random() * order.spreadMs);
    const around = { issuer: order.issuer, clock, observe: countFor(index) };
    const member =
      index < order.simulated
        ? simulated(around, engine)
        : await real(around, order.socket, () => openEngine(clock));
    members.push(member);
    await keepCalling(member, clock);
  };
  await Promise.all(Array.from({ length: order.simulated + order.real }, (_, index) => add(index)));
}

async function keepCalling(member: Member, clock: Clock): Promise<void> {
  while (!ended.signal.aborted) {
    await clock.sleep(CALL_EVERY_MS * (0.5 + Math.random()), ended.signal);
    if (!ended.signal.aborted) await call(member);
  }
}

async function call(member: Member): Promise<void> {
  counts.requests++;
  const problem = await member.call((token) => isGood(token, revokedUpTo, simulatedMs(order.pace)));
  if (problem === undefined || ended.signal.aborted) return;
  counts.failed++;
  const atS = Math.round(simulatedMs(order.pace) / 1_000);
  if (counts.failures.length < 20) counts.failures.push(`at ${atS} s: ${problem}`);
}

async function watch(upTo: number): Promise<void> {
  const from = performance.now();
  const isOld = (member: Member) => (member.number() ?? Number.POSITIVE_INFINITY) <= upTo;
  while (members.some(isOld) && performance.now() - from < WATCH_MS) await sleep(2);
  report({ did: 'watch', tookMs: performance.now() - from });
}

async function end(): Promise<void> {
  ended.abort();
  for (const member of members) await member.end();
  await engine.close();
  const lagMs = { p99: Math.round(lag.percentile(99) / 1e6), max: Math.round(lag.max / 1e6) };
  report({ did: 'end', counts, tokens, reasons: reasons.counts, lagMs });
  process.disconnect?.();
}

function report(it: Report): void {
  (process as { send?: (it: Report) => void }).send?.(it);
}

process.on('message', (command: Command) => {
  if (command.do === 'begin') void begin(command.order);
  else if (command.do === 'revoked') revokedUpTo = command.upTo;
  else if (command.do === 'watch') void watch(command.upTo);
  else if (command.do === 'call') void call(members[0]!);
  else if (command.do === 'login')
    for (const member of command.all ? members : members.slice(0, 1)) member.makeRenewalDue();
  else void end();
});
