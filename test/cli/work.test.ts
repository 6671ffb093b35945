import t, { type Test } from 'tap';
import { CountedProcess } from '../support/counted-process.ts';
import { type CountingUpstream, countingUpstream, SMALL_ANSWER } from '../support/counting-upstream.ts';
import { request } from '../support/gateway.ts';
import type { Work } from '../support/work-counters.ts';

// What a request costs, counted and not timed, so that a change which makes it dearer is seen on any machine.
// The times themselves: npm run bench.

const CONNECTIONS = 16;
const REQUESTS = 2_000;
/**
 * At most, and of each figure the least counts: V8 wakes the main thread in its own time while it collects and compiles,
 * a new connection has promises of its own, and a busy machine makes more of both. The first within the limits is the last.
 */
const RUNS = 3;
/** V8 has compiled most of the way of a request by then; what it compiles allocates less. */
const WARM_UP = 4_000;

/** For each request, at most. When a figure goes down for good, its limit follows. */
const LIMITS = {
  /** Half as much again as is measured on Node 26: 16,000 for a GET, 20,000 for a POST. */
  allocatedBytes: 30_000,
  /** Two: Node's of the client's idle connection, undici's of the upstream's. */
  timers: 2,
  promises: 0,
  /** Node's: each side's write, the end of the answer; ours: its head, where its body doesn't come at once. */
  ticks: 3,
  /** A connection is taken at the end of the event loop's turn, for all requests of that turn. */
  immediates: 1,
  /** One from each side, and one that tells that a log line is written; lines are mostly written together. */
  reads: 3,
  /** One to each side. */
  writes: 2,
  largeBuffers: 0,
  /** 220 measured for a GET, 224 for a POST; the times in a line vary in length. */
  logBytes: 240,
} as const;
/** What there is besides requests: connections, the counting itself, the lines of the start. */
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

/** What one run did; all but the number of connections for each request. */
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
/** Over TLS or not. A POST takes a new one rather than one that has just been freed: so there may be some more than clients. */
const MOST_CONNECTIONS = { true: CONNECTIONS, false: 3 * CONNECTIONS };
const COUNTED = ['allocatedBytes', 'reads', 'writes', 'largeBuffers', 'logBytes', 'connections'] as const;
const WATCHED = ['timers', 'promises', 'ticks', 'immediates'] as const;

/** Timers and promises in runs of their own, since to watch them allocates. */
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
  t.test(`${name} costs no more than it has to`, async (t) => {
    const figures = await measured(t, bytes);
    t.comment(figures);
    t.equal(figures.piecesUp, 1, 'it goes upstream in one piece');
    t.equal(figures.piecesDown, 1, 'its answer goes to the client in one piece');
    t.ok(figures.connections <= MOST_CONNECTIONS.false, 'connections to the upstream are used again');
    for (const [what, limit] of Object.entries(LIMITS) as [keyof typeof LIMITS, number][]) {
      t.ok(figures[what] <= limit + BESIDES, `${what}: at most ${limit}, and it is ${figures[what]}`);
    }
  });
}

t.test('over TLS, a request brings no handshake of its own', async (t) => {
  const figures = await measured(t, GET, true);
  t.comment(figures);
  t.ok(
    figures.connections <= MOST_CONNECTIONS.true,
    `${figures.connections} connections for ${REQUESTS} requests`,
  );
  t.equal(figures.piecesUp, 1, 'it goes upstream in one record');
});

/** Some for each connection to the upstream, and one for a piece that the client has not taken at once. */
const MOST_BUFFERS = 40;

t.test('an answer of 100 KB passes without a buffer of its own', async (t) => {
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
