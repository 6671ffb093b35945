import t, { type Test } from 'tap';
import { leastBytes, usedBytes } from '../support/memory.ts';
import { randomFrom } from '../support/random.ts';
import { until } from '../support/raw-client.ts';
import { share } from '../support/share.ts';
import { assertFacts, recovers } from './facts.ts';
import type { Played } from './fault.ts';
import { played } from './table.ts';
import { KINDS, type Kind } from './visit.ts';
import { keepPage, WHY_FILE, whyPage } from './why-pages.ts';
import { WAYS, type Way, World } from './world.ts';

/**
 * The fault matrix, by fault, kind of request and way. In `npm test` each fault once, chosen by a seed, and no more
 * than fits the time; all of them by `npm run faults`.
 *
 *   FAULTS_SEED=7 node test/faults/faults.test.ts    another choice
 *   node test/faults/faults.test.ts all 14           all cases of fault 14
 *   FAULTS_WHY=FILE node test/faults/faults.test.ts  adds what `why` says in each case; process-why.test.ts does, too
 */
const ALL = process.argv.includes('all');
const ONLY = process.argv.slice(2).filter((argument) => argument !== 'all');
const SEED = Number(process.env.FAULTS_SEED ?? 1);
const LIMIT_MS = Number(process.env.FAULTS_LIMIT_S ?? share(20)) * 1_000;
/** After so many cases nothing is loaded or compiled for the first time. */
const WARM_CASES = 100;
/** What tap keeps of each of its assertions is among it. */
const MOST_GROWTH_MIB = 32;

interface Case {
  readonly fault: Played;
  readonly kind: Kind;
  readonly way: Way;
}

function casesOf(fault: Played): Case[] {
  const { kinds = KINDS, ways = WAYS } = fault;
  return kinds.flatMap((kind) => ways.map((way) => ({ fault, kind, way })));
}

/** One case of each fault, in an order by chance. */
function selection(random: () => number): Case[] {
  const one = (cases: Case[]) => cases[Math.floor(random() * cases.length)]!;
  return played
    .filter(({ slow }) => slow === undefined || WHY_FILE !== undefined)
    .map((fault) => ({ at: random(), chosen: one(casesOf(fault)) }))
    .sort((a, b) => a.at - b.at)
    .map(({ chosen }) => chosen);
}

async function run(t: Test, { fault, kind, way }: Case): Promise<void> {
  const world = await World.startedFor(t, { way, ...fault.options });
  const pages: string[] = [];
  const look = async () => {
    if (WHY_FILE === undefined) return;
    t.testdir({});
    pages.push(await whyPage(t, `127.0.0.1:${world.proxy.adminPort}`));
  };
  const ask = async () => {
    const outcome = await world.visit(kind);
    await look();
    return outcome;
  };
  await fault.play({ t, world, kind, ask });
  await look();
  // Of a request that failed, or else of what goes on, or else of what was.
  const page =
    pages.findLast((each) => !each.includes(NOTHING)) ??
    pages.find((each) => GOES_ON.test(each)) ??
    pages.at(-1);
  if (page !== undefined) keepPage(`${fault.number}: ${fault.title} (${kind}, ${way})`, page);
  await Promise.all([world.session.heal(), world.upstream.heal()]);
  world.issuer.answer = undefined;
  world.ledger.answer = world.ledger.early = world.ledger.reached = undefined;
  await recovers(world, fault.recoveryMs);
  await assertFacts(t, world);
}

const NOTHING = 'no request has failed';
const GOES_ON = /^Now: (?!all credentials are ready, and)/m;

/** What keeps a process alive, by kind: sockets, listeners, timers. What comes and goes by itself is left out. */
function handles(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !/^(Immediate|FSReq|GetAddrInfo|TickObject|WriteWrap|ShutdownWrap)/.test(name))
    .sort();
}

/** Sockets and timers are as they were before; they may take a moment. */
async function assertNothingIsLeft(t: Test, before: readonly string[]): Promise<void> {
  const isGone = () => handles().join() === before.join();
  await until(isGone, 'a handle is left').catch(() => t.same(handles(), before, 'a handle is left'));
}

const wanted = (fault: Played) => ONLY.length === 0 || ONLY.includes(String(fault.number));
const cases = ALL ? played.filter(wanted).flatMap(casesOf) : selection(randomFrom(SEED));
t.setTimeout(ALL || WHY_FILE !== undefined ? 3_600_000 : 600_000);
const began = performance.now();

const before = handles();
let warmBytes = 0;

for (const [n, one] of cases.entries()) {
  if (!wanted(one.fault)) continue;
  const title = `${one.fault.number}: ${one.fault.title} — ${one.kind}, ${one.way}`;
  await t.test(title, { timeout: 600_000 }, async (t) => {
    if (!ALL && performance.now() - began > LIMIT_MS) return t.comment('no time left');
    await run(t, one);
  });
  await assertNothingIsLeft(t, before);
  if (n + 1 === WARM_CASES) warmBytes = await usedBytes();
}

if (cases.length > WARM_CASES) {
  const growthMib = ((await leastBytes(warmBytes + MOST_GROWTH_MIB * 2 ** 20)) - warmBytes) / 2 ** 20;
  t.comment(`${cases.length} cases, ${growthMib.toFixed(1)} MiB more than after ${WARM_CASES}`);
  t.ok(growthMib < MOST_GROWTH_MIB, 'memory is where it was', { growthMib });
}
