import { setTimeout as sleep } from 'node:timers/promises';
import type { Wire } from '../faults/ledger.ts';
import { Relay } from '../faults/relay.ts';
import { CA_FILE } from '../support/counting-upstream.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { randomFrom } from '../support/random.ts';
import { until } from '../support/raw-client.ts';
import { FarProcess } from './far-process.ts';
import { Files } from './files.ts';
import type { Gauge } from './gauge.ts';
import { HeldUp } from './held-up.ts';
import { effectsOf, type Made } from './judgement.ts';
import { Load } from './load.ts';
import type { Arrivals } from './orders.ts';
import { Program } from './program.ts';
import { RATE } from './scale.ts';
import { type Appointment, timetableOf } from './timetable.ts';
import type { Trouble, World } from './trouble.ts';
import { TROUBLES } from './troubles.ts';

/** A sample of the process between two faults. */
export interface Look extends Gauge {
  readonly atMs: number;
  readonly openFiles: number;
  /** The median of requests in the period before. */
  readonly medianMs: number;
}

/** The record of a run. */
export interface Record {
  readonly load: Load;
  readonly made: readonly Made[];
  readonly looks: readonly Look[];
  readonly before: Look;
  readonly after: Look;
  readonly arrivals: Arrivals;
  readonly counted: number;
  readonly inFlight: number;
  readonly internalErrors: number;
  readonly lines: Program['lines'];
  readonly exitCode: number | null;
}

export interface Plan {
  readonly lengthMs: number;
  readonly seed: number;
  readonly wire: Wire;
  /** Only faults whose name contains this text. */
  readonly only: string;
}

/** The first entry, which is no fault. */
const START = { name: 'start', harms: false, excuses: [] };
/** How long before the next fault a sample is taken. */
const LOOK_AHEAD_MS = 500;
/** The time in which connections of ended requests close. */
const REST_MS = 20_000;

export async function soak(t: Lifetime, { lengthMs, seed, wire, only }: Plan): Promise<Record> {
  const world = await worldFor(t, wire);
  const { program, far } = world;
  const random = randomFrom(seed);
  const troubles = TROUBLES.filter(({ name }) => name.includes(only));
  const load = new Load(program.port, RATE, randomFrom(seed + 1));
  t.teardown(() => load.close());
  const before = await look(program, load);
  const beganMs = Date.now();
  const made: Made[] = [{ trouble: START, beganMs, endedMs: beganMs, heldUpMs: 0 }];
  const looks: Look[] = [];
  const heldUp = new HeldUp([process.pid, program.pid, far.pid]);
  load.begin();
  for (const appointment of timetableOf(troubles, lengthMs, random)) {
    await sleepUntil(beganMs + appointment.atMs - LOOK_AHEAD_MS);
    looks.push(await look(program, load));
    made.at(-1)!.heldUpMs = heldUp.take();
    tell(made, looks, load);
    await sleepUntil(beganMs + appointment.atMs);
    made.push(await make(world, appointment, random));
    if (!program.alive) throw new Error('bearerd is dead');
  }
  await sleepUntil(beganMs + lengthMs);
  made.at(-1)!.heldUpMs = heldUp.take();
  load.end();
  await until(() => load.underWay === 0, 'requests are still under way', REST_MS);
  load.close();
  await until(() => program.openFiles <= before.openFiles + 2, 'files are left open', REST_MS).catch(
    () => {},
  );
  const counted = await program.metric('bearerd_requests_total', 'route="/"');
  const inFlight = await program.metric('bearerd_requests_in_flight');
  const internalErrors = await program.internalErrors();
  const after = await look(program, load);
  const arrivals = await far.arrivals();
  const exitCode = await program.end();
  const { lines } = program;
  return { load, made, looks, before, after, arrivals, counted, inFlight, internalErrors, lines, exitCode };
}

function sleepUntil(atMs: number): Promise<void> {
  return sleep(Math.max(0, atMs - Date.now()));
}

async function worldFor(t: Lifetime, wire: Wire): Promise<World> {
  const far = await FarProcess.startedFor(t, wire);
  const [session, upstream] = await Promise.all([
    Relay.startedFor(t, far.ports.session),
    Relay.startedFor(t, far.ports.upstream),
  ]);
  const files = Files.for(t, {
    baseUrl: `${wire === 'TCP' ? 'http' : 'https'}://localhost:${upstream.port}`,
    upstream: `${upstream.address}:${upstream.port}`,
    session: `http://${session.address}:${session.port}`,
  });
  const env = wire === 'TCP' ? {} : { BEARERD_TLS_CA_FILE: CA_FILE };
  const program = await Program.startedFor(t, files.configuration, env);
  return { far, session, upstream, files, program };
}

async function make(
  world: World,
  { kind, lastsMs }: Appointment<Trouble>,
  random: () => number,
): Promise<Made> {
  const beganMs = Date.now();
  const end = kind.begin(world, random);
  await sleep(lastsMs);
  await end();
  return { trouble: kind, beganMs, endedMs: Date.now(), heldUpMs: 0 };
}

async function look(program: Program, load: Load): Promise<Look> {
  const gauge = await program.gauge();
  const took = load.tookMs.splice(0).sort((a, b) => a - b);
  const medianMs = took[took.length >> 1] ?? 0;
  return { ...gauge, atMs: Date.now(), openFiles: program.openFiles, medianMs };
}

/** Prints the progress. */
function tell(made: readonly Made[], looks: readonly Look[], { sent, failures }: Load): void {
  const { heapBytes, openFiles, medianMs } = looks.at(-1)!;
  const heap = (heapBytes / 2 ** 20).toFixed(2);
  const last = made.at(-1)!;
  const recent = failures.filter(({ endedMs }) => endedMs >= last.beganMs);
  const { name, byWhat, recoveryMs, misses, doubts } = effectsOf([last], recent)[0]!;
  console.error(
    `${looks.length}: ${sent} sent, ${heap} MiB, ${openFiles} files, ${medianMs} ms; ${name}: ${JSON.stringify(byWhat)}, recovered after ${recoveryMs} ms, held up ${Math.round(last.heldUpMs)} ms ${misses.join('; ')} (${doubts.join('; ')})`,
  );
}
