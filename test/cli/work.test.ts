import t, { type Test } from 'tap';
import { CountedProcess } from '../support/counted-process.ts';
import { type CountingUpstream, countingUpstream, SMALL_ANSWER } from '../support/counting-upstream.ts';
import { request } from '../support/gateway.ts';
import type { Work } from '../support/work-counters.ts';

// Counts the work of a request, so that a change that adds work shows on any machine. `npm run bench` measures times.

const CONNECTIONS = 16;
const REQUESTS = 2_000;
/**
 * The most runs. The least of each figure counts, and a run within the limits ends the test: V8 adds work when it collects
 * garbage and compiles, a new connection creates promises, and a busy machine makes more of both.
 */
const RUNS = 3;
/** By then V8 has compiled most of the code that a request runs; compiled code allocates less. */
const WARM_UP = 4_000;

/** The most for each request. If a figure goes down for good, lower its limit. */
const LIMITS = {
  /** Measured on Node 26: 16,000 for a GET, 20,000 for a POST. */
  allocatedBytes: 30_000,
  /** Node's, for the client's idle connection. */
  timers: 1,
  promises: 0,
  /** Node's: the write on each side, the end of the answer. Ours: the head of an answer whose body comes later. */
  ticks: 3,
  /** Requests of one turn of the event loop get their connections at its end. */
  immediates: 1,
  /** One from each side, and one when log lines have been written; most lines are written together. */
  reads: 3,
  /** One to each side. */
  writes: 2,
  largeBuffers: 0,
  /** 220 measured for a GET, 224 for a POST; the times in a line vary in length. */
  logBytes: 240,
} as const;
/** Allowance for work besides requests: connections, the counting itself, the log lines of the start. */
const BESIDES = 0.1;

const TARGET = '/api/people/v1/o_1/find';
const GET = Buffer.from(request('GET', TARGET, 'accept: */*'));
const POST = post(1_000);
const POST_8K = post(8 * 1024 - 11);

function post(characters: number): Buffer {
  const body = JSON.stringify({ text: 'x'.repeat(characters) });
  const fields = ['content-type: application/json', `content-length: ${body.length}`];
  return Buffer.from(request('POST', TARGET, ...fields) + body);
}

/** The work of one run for each request; `connections` is a total. */
interface Run extends Work {
  readonly piecesUp: number;
  readonly piecesDown: number;
  readonly logBytes: number;
  readonly connections: number;
}

async function run(
  proxy: CountedProcess,
  upstream: CountingUpstream,
  bytes: Buffer,
  wish: 'count' | 'watch',
) {
  const [before, logged, seen] = [await proxy.work(wish), proxy.log.length, { ...upstream.counts }];
  const piecesDown = await proxy.load(bytes, REQUESTS, CONNECTIONS);
  const after = await proxy.work();
  const { connections, pieces, requests } = upstream.counts;
  const each = (name: keyof Work) => (after[name] - before[name]) / REQUESTS;
  const figures: Run = {
    allocatedBytes: each('allocatedBytes'),
    reads: each('reads'),
    writes: each('writes'),
    largeBuffers: each('largeBuffers'),
    timers: each('timers'),
    promises: each('promises'),
    ticks: each('ticks'),
    immediates: each('immediates'),
    piecesUp: (pieces - seen.pieces) / (requests - seen.requests),
    piecesDown: piecesDown / REQUESTS,
    logBytes: (proxy.log.length - logged) / REQUESTS,
    connections: connections - seen.connections,
  };
  return figures;
}

const isLimited = (name: string): name is keyof typeof LIMITS => name in LIMITS;
/** With TLS and without. A POST does not use a connection that was freed just now: so there may be more than clients. */
const MOST_CONNECTIONS = { true: CONNECTIONS, false: 3 * CONNECTIONS };
const COUNTED = ['allocatedBytes', 'reads', 'writes', 'largeBuffers', 'logBytes', 'connections'] as const;
const WATCHED = ['timers', 'promises', 'ticks', 'immediates'] as const;

/** Timers and promises are counted in runs of their own, since counting them allocates. */
async function measured(t: Test, bytes: Buffer, secure = false): Promise<Run> {
  const upstream = await countingUpstream(t, SMALL_ANSWER, secure);
  const proxy = await CountedProcess.before(t, upstream);
  await proxy.load(bytes, WARM_UP, CONNECTIONS);
  const most = (name: string) => (isLimited(name) ? LIMITS[name] + BESIDES : MOST_CONNECTIONS[`${secure}`]);
  const least = async <Name extends keyof Run>(names: readonly Name[], wish: 'count' | 'watch') => {
    const runs: Run[] = [];
    const figures = () =>
      Object.fromEntries(names.map((name) => [name, Math.min(...runs.map((each) => each[name]))]));
    do runs.push(await run(proxy, upstream, bytes, wish));
    while (runs.length < RUNS && Object.entries(figures()).some(([name, figure]) => figure > most(name)));
    const piecesUp = Math.max(...runs.map((each) => each.piecesUp));
    const piecesDown = Math.max(...runs.map((each) => each.piecesDown));
    return { ...(figures() as Record<Name, number>), piecesUp, piecesDown };
  };
  const counted = await least(COUNTED, 'count');
  return { ...(await least(WATCHED, 'watch')), ...counted };
}

for (const [name, bytes] of [
  ['a small GET', GET],
  ['a JSON POST', POST],
  ['a POST of 8 KiB', POST_8K],
] as const) {
  t.test(`${name} takes no more work than the limits`, async (t) => {
    const figures = await measured(t, bytes);
    t.comment(figures);
    t.equal(figures.piecesUp, 1, 'the request goes upstream in one piece');
    t.equal(figures.piecesDown, 1, 'the answer goes to the client in one piece');
    t.ok(figures.connections <= MOST_CONNECTIONS.false, 'connections to the upstream are used again');
    for (const [what, limit] of Object.entries(LIMITS) as [keyof typeof LIMITS, number][]) {
      t.ok(figures[what] <= limit + BESIDES, `${what}: ${figures[what]}, at most ${limit}`);
    }
  });
}

t.test('requests over TLS share their handshakes', async (t) => {
  const figures = await measured(t, GET, true);
  t.comment(figures);
  t.ok(
    figures.connections <= MOST_CONNECTIONS.true,
    `${figures.connections} connections for ${REQUESTS} requests`,
  );
  t.equal(figures.piecesUp, 1, 'the request goes upstream in one record');
});

/** Some for each connection to the upstream, and one for a piece that the client did not read at once. */
const MOST_BUFFERS = 40;

t.test('an answer of 100 KB passes without a large buffer of its own', async (t) => {
  const body = Buffer.alloc(100_000, 'x');
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n`;
  const upstream = await countingUpstream(t, Buffer.concat([Buffer.from(head), body]));
  const proxy = await CountedProcess.before(t, upstream);
  const made: number[] = [];
  while (made.length < RUNS && !made.some((count) => count < MOST_BUFFERS)) {
    const before = await proxy.work();
    await proxy.load(GET, 400, 1);
    made.push((await proxy.work()).largeBuffers - before.largeBuffers);
  }
  t.comment({ made });
  t.ok(Math.min(...made) < MOST_BUFFERS, `${made} buffers for 400 answers each`);
});
