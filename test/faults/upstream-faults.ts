import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/raw-client.ts';
import { type Played, type Scene, seen } from './fault.ts';
import { BODY, respond } from './ledger.ts';
import type { Cut } from './relay.ts';
import { KINDS, type Kind } from './visit.ts';
import type { Way, World } from './world.ts';

const HTTP1: readonly Way[] = ['TCP', 'TLS', 'Unix socket'];
/** Kinds whose answer has a body that we choose. */
const PLAIN: readonly Kind[] = ['GET', 'POST of 1 MiB'];
/** Long enough for a busy machine to do what isn't to time out. */
const TIMEOUTS = {
  BEARERD_CONNECT_TIMEOUT: '1s',
  BEARERD_RESPONSE_TIMEOUT: '1s',
  BEARERD_IDLE_TIMEOUT: '1s',
};

const refusing: Played = {
  number: 12,
  title: 'the upstream listens no more',
  // Longer than a visit waits: it is told at once.
  options: { env: { BEARERD_CONNECT_TIMEOUT: '5m' } },
  play: async ({ t, world, ask }) => {
    world.upstream.refuse();
    seen(t, await ask(), 502);
  },
};

const stalledHandshake: Played = {
  number: 13,
  title: 'the upstream takes the connection, and no packet of it comes back',
  options: { env: TIMEOUTS },
  play: async ({ t, world, ask }) => {
    world.upstream.set({ blackhole: 'everything' });
    const outcome = await ask();
    seen(t, outcome, 504);
    t.ok(outcome.tookMs > 900, `after ${outcome.tookMs} ms`);
  },
};

type Point =
  | 'accept'
  | 'request head'
  | 'request body'
  | 'before status'
  | 'in header'
  | 'in body'
  | 'in chunk';
const POINTS: readonly Point[] = [
  'accept',
  'request head',
  'request body',
  'before status',
  'in header',
  'in body',
  'in chunk',
];

/** Which request goes that far: only an upload has a body on the way, and only an answer with chunks has chunks. */
function kindsAt(point: Point): readonly Kind[] {
  if (point === 'request body') return ['POST of 1 MiB'];
  if (point === 'in body') return PLAIN;
  if (point === 'in chunk') return ['GET', 'POST of 1 MiB', 'events'];
  return KINDS;
}

const STEPS = { 'request head': 'head', 'request body': 'body', 'before status': 'whole' } as const;
/** Into the head of an answer, and far into its body: nothing that is pasted together in front is as long. */
const BYTES = { 'in header': 12, 'in body': 50_000, 'in chunk': 9_000 } as const;

function breakAt({ upstream, ledger }: World, point: Point, how: Cut): void {
  if (point === 'accept') {
    upstream.set({ cutAtAccept: how });
    return;
  }
  const step = point in STEPS ? STEPS[point as keyof typeof STEPS] : 'whole';
  ledger.reached = (reached) => {
    if (reached !== step) return;
    if (point in BYTES) upstream.cutAfter(BYTES[point as keyof typeof BYTES], how);
    else upstream.cut(how);
  };
}

function breaking(number: number, how: Cut): Played[] {
  return POINTS.map((point) => ({
    number,
    title: `the upstream's connection gets ${how === 'reset' ? 'a reset' : 'an end'}: ${point}`,
    kinds: kindsAt(point),
    options: { env: TIMEOUTS },
    play: async ({ t, world, kind }) => {
      breakAt(world, point, how);
      const outcome = await world.visit(kind, { flavour: point === 'in chunk' ? '/chunked' : '' });
      // A tunnel may have got its 101 before, and a request that the upstream ignored may be sent once more.
      if (point === 'in body' || point === 'in chunk') seen(t, outcome, 'broken', 502);
      else seen(t, outcome, 502);
    },
  }));
}

/** A connection that has been idle for so long is taken by any request; before, a POST takes a new one. */
const RESTED_MS = 20;

const halfOpen: Played = {
  number: 16,
  title: 'a kept connection is dead without a sign',
  options: { env: TIMEOUTS },
  play: async ({ t, world, ask }) => {
    await world.visit('GET');
    await sleep(RESTED_MS);
    world.upstream.set({ blackhole: 'links' });
    // An upgrade has a connection of its own.
    seen(t, await ask(), 504, 408, 101);
    seen(t, await ask(), 200, 101);
  },
};

const idleRace = (how: Cut): Played => ({
  number: 17,
  title: `a kept connection gets ${how === 'reset' ? 'a reset' : 'an end'} as the request is sent`,
  play: async ({ t, world, kind, ask }) => {
    await world.visit('GET');
    world.upstream.set({ cutAtNext: how });
    world.ledger.reached = () => world.upstream.set({});
    const accepted = world.upstream.accepted;
    const cured = until(() => world.upstream.open === 0 || world.upstream.accepted > accepted, 'not cut');
    const answered = ask();
    await cured;
    world.upstream.set({});
    const outcome = await answered;
    if (kind === 'POST of 1 MiB') seen(t, outcome, 502, 200);
    else seen(t, outcome, 200, 101, 502);
  },
});

const slow: readonly Played[] = [
  {
    number: 18,
    title: 'the upstream is slow to answer',
    kinds: ['GET', 'POST of 1 MiB', 'events'],
    options: { env: TIMEOUTS },
    play: async ({ t, world, ask }) => {
      world.ledger.answer = () => {};
      seen(t, await ask(), 504);
    },
  },
  {
    number: 18,
    title: 'the upstream stops in the middle of its answer',
    kinds: PLAIN,
    options: { env: TIMEOUTS },
    play: async ({ t, world, ask }) => {
      world.ledger.answer = (_entry, response) => {
        response.writeHead(200, { 'content-length': BODY.length });
        response.write(BODY.subarray(0, 1_000));
      };
      seen(t, await ask(), 'broken');
    },
  },
  {
    number: 18,
    title: 'the upstream drips, and the network is slow',
    options: { env: TIMEOUTS },
    play: async ({ t, world, ask }) => {
      world.upstream.set({ drip: { bytes: 4_000, everyMs: 5 }, delayMs: 1 });
      const outcome = await ask();
      seen(t, outcome, 200, 101);
      t.ok(outcome.right, 'slow is not broken');
    },
  },
];

const early: readonly Played[] = [413, 401].map((status) => ({
  number: 19,
  title: `the upstream answers ${status} in the middle of an upload`,
  kinds: ['POST of 1 MiB'],
  play: async ({ t, world, ask }: Scene) => {
    world.ledger.early = (entry, response) => {
      respond(entry, response, status, 'enough');
    };
    seen(t, await ask(), status);
  },
}));

const unread: Played = {
  number: 20,
  title: 'the upstream answers, and never reads the upload',
  kinds: ['POST of 1 MiB'],
  ways: HTTP1,
  options: { env: TIMEOUTS },
  play: async ({ t, world, ask }) => {
    world.ledger.early = (entry, response) => {
      entry.request.pause();
      respond(entry, response, 200, BODY);
    };
    seen(t, await ask(), 200);
  },
};

/** Node's server waits for the answer that we say in its place: the connection is of no more use. */
const ENDING = `connection: close\r\ncontent-length: ${BODY.length}\r\n\r\n`;

/** Bytes in place of an answer: what a library for HTTP/2 wouldn't say. */
const raw = (title: string, head: string, status: 502 | 200): Played => ({
  number: 21,
  title: `the upstream answers with ${title}`,
  kinds: PLAIN,
  ways: HTTP1,
  play: async ({ t, world, ask }) => {
    world.ledger.answer = (_entry, response) =>
      response.socket!.write(Buffer.concat([Buffer.from(head + ENDING), BODY]));
    seen(t, await ask(), status);
  },
});

const odd: readonly Played[] = [
  raw('a head past the limit', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n`, 502),
  raw('the status 099', `HTTP/1.1 099 Odd\r\n`, 502),
  raw('the status 1999', `HTTP/1.1 1999 Odd\r\n`, 502),
  raw("101 that wasn't asked for", 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n', 502),
  raw('103 and then 200', `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n`, 200),
  raw('a thousand lines', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1_000)}`, 200),
];

const unavailable: Played = {
  number: 22,
  title: 'the upstream answers 503 with Retry-After',
  kinds: ['GET', 'POST of 1 MiB', 'events'],
  play: async ({ t, world, ask }) => {
    world.ledger.answer = (entry, response) =>
      respond(entry, response, 503, 'later', { 'retry-after': '17' });
    const outcome = await ask();
    seen(t, outcome, 503);
    t.equal(outcome.retryAfterS, 17);
    t.equal(world.ledger.of(outcome.id).length, 1, 'it is asked once');
  },
};

const corrupt: Played = {
  number: 23,
  title: 'bytes change on their way, which TLS sees',
  kinds: ['GET', 'POST of 1 MiB', 'events'],
  ways: ['TLS', 'HTTP/2'],
  options: { env: TIMEOUTS },
  play: async ({ t, world, ask }) => {
    world.ledger.reached = (step) => {
      if (step === 'whole') world.upstream.corruptAfter(5_000);
    };
    seen(t, await ask(), 'broken', 502);
  },
};

export const UPSTREAM_FAULTS: readonly Played[] = [
  refusing,
  stalledHandshake,
  ...breaking(14, 'reset'),
  ...breaking(15, 'end'),
  halfOpen,
  idleRace('reset'),
  idleRace('end'),
  ...slow,
  ...early,
  unread,
  ...odd,
  unavailable,
  corrupt,
];
