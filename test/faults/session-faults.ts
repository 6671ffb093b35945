import { until } from '../support/raw-client.ts';
import { head } from '../support/raw-upstream.ts';
import { type Played, type Scene, seen } from './fault.ts';
import { refusal, session } from './issuer.ts';
import type { World } from './world.ts';

/** At this speed a backoff of a minute takes three seconds, and a second between two logins 50 ms. */
const QUICK = 20;
const KINDS = ['GET', 'POST of 1 MiB'] as const;
const WAYS = ['TCP', 'Unix socket'] as const;
const SOON = { BEARERD_TOKEN_WAIT: '2s' };

const failures = ({ proxy }: World) =>
  proxy.events.flatMap((event) => (event.type === 'login-failed' ? [event] : []));

/** A renewal meets the answer; the token at hand serves on, and the next renewal is well. Gives what is told of it. */
async function failsAndServes({ t, world, ask }: Scene, answer: string | Buffer, code: string) {
  world.issuer.answer = () => answer;
  t.equal(await world.renew(), 502, 'the renewal fails');
  const failure = failures(world).at(-1)!;
  t.equal(failure.error.code, code);
  t.ok(failure.nextTryInMs >= 1_000 && failure.nextTryInMs <= 300_000, `${failure.nextTryInMs} ms`);
  seen(t, await ask(), 200);
  world.issuer.answer = undefined;
  t.equal(await world.renew(), 200, 'the next one is well');
  return failure;
}

type Answers = () => readonly (string | Buffer)[];

function answering(number: number, title: string, code: string, answers: Answers): Played {
  return {
    number,
    title: `the session endpoint answers ${title}`,
    kinds: KINDS,
    ways: WAYS,
    options: { speed: QUICK },
    play: async (scene) => {
      for (const answer of answers()) await failsAndServes(scene, answer, code);
    },
  };
}

function silent(number: number, title: string, before: (world: World) => unknown): Played {
  return {
    number,
    title: `the session endpoint ${title}`,
    slow: true,
    kinds: KINDS,
    ways: WAYS,
    options: { speed: QUICK, env: SOON, before },
    play: async ({ t, world, ask }) => {
      seen(t, await ask(), 503);
      await until(() => failures(world).length > 0, 'no login fails');
      const { error, durationMs } = failures(world)[0]!;
      t.equal(error.code, 'unreachable');
      const tookMs = durationMs / QUICK;
      t.ok(tookMs > 9_500, `it was given up after ${tookMs} ms`);
    },
  };
}

const downAtStart: Played = {
  number: 1,
  title: 'the session endpoint is down at the start',
  kinds: KINDS,
  ways: WAYS,
  options: { speed: QUICK, env: SOON, before: ({ session }) => session.refuse() },
  play: async ({ t, world, ask }) => {
    seen(t, await ask(), 503);
    t.equal(world.proxy.gateway.readiness.ready, false);
    t.equal(world.ledger.entries.length, 0, 'nothing goes up without a token');
    await until(() => failures(world).length > 0, 'no login fails');
    t.equal(failures(world)[0]?.error.code, 'unreachable');
  },
};

const downAtRenewal: Played = {
  number: 2,
  title: 'the session endpoint goes down while a token is held',
  kinds: KINDS,
  ways: WAYS,
  options: {
    speed: QUICK,
    env: SOON,
    before: ({ issuer }) => {
      issuer.lifetimeMs = 60_000;
    },
  },
  play: async ({ t, world, ask }) => {
    await until(() => world.proxy.gateway.readiness.ready, 'no token');
    world.session.refuse();
    seen(t, await ask(), 200);
    await until(() => failures(world).length > 0, 'no renewal');
    seen(t, await ask(), 200, 503);
    await until(() => !world.proxy.gateway.readiness.ready, 'the token does not end');
    seen(t, await ask(), 503);
  },
};

/** Each with the least and the most that may pass until the next login. */
const BUSY = (): readonly (readonly [retryAfter: string, least: number, most: number])[] => [
  ['7', 7_000, 7_000],
  [new Date(Date.now() + 200_000).toUTCString(), 100_000, 300_000],
  ['1000000000', 300_000, 300_000],
  ['soon, I hope', 1_000, 60_000],
];

const rateLimited: Played = {
  number: 5,
  title: 'the session endpoint answers 429, with whatever Retry-After',
  kinds: KINDS,
  ways: WAYS,
  options: { speed: QUICK },
  play: async (scene) => {
    for (const [retryAfter, least, most] of BUSY()) {
      const answer = refusal('429 Too Many Requests', `retry-after: ${retryAfter}`);
      const { nextTryInMs } = await failsAndServes(scene, answer, 'rate-limited');
      scene.t.ok(nextTryInMs >= least && nextTryInMs <= most, `${retryAfter}: ${nextTryInMs} ms`);
    }
  },
};

const refused: Played = {
  number: 6,
  title: 'the session endpoint answers 401 and 403: wrong credentials',
  kinds: KINDS,
  ways: WAYS,
  options: { speed: QUICK },
  play: async (scene) => {
    for (const status of ['401 Unauthorized', '403 Forbidden']) {
      const { nextTryInMs } = await failsAndServes(scene, refusal(status), 'refused');
      scene.t.ok(nextTryInMs >= 30_000, `it asks again after ${nextTryInMs} ms`);
    }
  },
};

const GARBAGE: Answers = () => [
  refusal('200 OK', 'content-type: text/html'),
  session('<html>'),
  Buffer.from(`${head('200 OK', 'content-length: 19')}{"accessToken":"abc`),
  session({ accessToken: 'a'.repeat(8 << 20), expires_in: 3600 }),
  session({ expires_in: 3600 }),
  session({ accessToken: 'a\r\nx-evil: 1', expires_in: 3600 }),
  session({ accessToken: 'tök', expires_in: 3600 }),
  session([{ accessToken: 'abc', expires_in: 3600 }]),
];

const LIVES = [0, -1, '3600', 1, 1e10, undefined];

const oddLives: Played = {
  number: 8,
  title: 'the session endpoint gives odd lifetimes',
  kinds: KINDS,
  ways: WAYS,
  options: { speed: QUICK },
  play: async ({ t, world, ask }) => {
    for (const life of [...LIVES.map((life) => ({ expires_in: life })), { expires_at: 1_000_000_000 }]) {
      world.issuer.grants(life);
      await world.renew();
      const { status } = await ask();
      t.ok(status === 200 || status === 503, `${JSON.stringify(life)}: ${status}`);
    }
  },
};

const elsewhere: Answers = () => [
  refusal('302 Found', 'location: http://127.0.0.1:1/elsewhere'),
  refusal('307 Temporary Redirect', 'location: /'),
];

const revoked: Played = {
  number: 11,
  title: 'the token is revoked before its time',
  options: { speed: 1 },
  play: async ({ t, world, kind, ask }) => {
    const before = world.issuer.loginsMs.length;
    world.issuer.revokeAll();
    if (kind === 'POST of 1 MiB') {
      seen(t, await ask(), 401);
      seen(t, await ask(), 200);
    } else seen(t, await ask(), 200, 101);
    t.equal(world.issuer.loginsMs.length, before + 1, 'one login');
  },
};

const revokedSmall: Played = {
  number: 11,
  title: 'the token is revoked before its time, and the body is small enough to be held',
  kinds: ['POST of 1 MiB'],
  options: { speed: 1 },
  play: async ({ t, world, kind }) => {
    world.issuer.revokeAll();
    const outcome = await world.visit(kind, { body: Buffer.alloc(60 * 1024, 'x') });
    seen(t, outcome, 200);
    t.same(
      world.ledger.of(outcome.id).map(({ status }) => status),
      [401, 200],
      'it was told once more, with a new token',
    );
  },
};

export const SESSION_FAULTS: readonly Played[] = [
  downAtStart,
  downAtRenewal,
  silent(3, 'takes the login, and never answers', ({ session }) => session.set({ blackhole: 'everything' })),
  answering(4, '500 and 502', 'server-error', () =>
    ['500 Oops', '502 Oops', '503 Oops'].map((s) => refusal(s)),
  ),
  rateLimited,
  refused,
  answering(7, 'what is no token', 'unusable', GARBAGE),
  oddLives,
  answering(9, 'with a redirect', 'redirected', elsewhere),
  silent(10, 'drips its answer', ({ session }) => session.set({ drip: { bytes: 1, everyMs: 400 } })),
  revoked,
  revokedSmall,
];
