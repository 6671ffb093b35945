import t from 'tap';
import type { Clock } from '../../../src/base/clock.ts';
import type { RequestEvent } from '../../../src/base/events.ts';
import { AttemptRecord } from '../../../src/base/journey.ts';
import { LoginError } from '../../../src/base/login-error.ts';
import type { Status } from '../../../src/observe/status.ts';
import { ClockWatch } from '../../../src/observe/why/clock-watch.ts';
import { logTrouble, memoryTrouble } from '../../../src/observe/why/process-troubles.ts';
import { failingLogins } from '../../../src/observe/why/readiness-words.ts';
import { type Situation, situationOf } from '../../../src/observe/why/situation.ts';
import { situationText } from '../../../src/observe/why/situation-text.ts';
import { Troubles } from '../../../src/observe/why/troubles.ts';

// What a person is told of the whole process, made of what events told and of what is known when they ask.

type Event = Parameters<Troubles['observe']>[0];

const MIB = 2 ** 20;
const NOTHING_ENDS = () => -1;
const SUCCEEDED: Event = {
  type: 'login-succeeded',
  credential: 'token',
  state: 'fresh',
  durationMs: 1,
  fingerprint: 'f',
  lifetimeMs: 1,
  renewInMs: 1,
  warnings: [],
};

function failed(message: string, usable = true): Event {
  const error = new LoginError('unreachable', message);
  return {
    type: 'login-failed',
    credential: 'token',
    state: 'degraded',
    durationMs: 1,
    error,
    nextTryInMs: 1,
    usable,
  };
}

/** Two clocks that go on when they are told to. */
class TwoClocks implements Clock {
  #wallMs = Date.UTC(2026, 0, 2, 3);
  #monoMs = 1_000;
  wallMs = () => this.#wallMs;
  monoMs = () => this.#monoMs;
  sleep = async () => {};

  goOn(ms: number): void {
    this.#wallMs += ms;
    this.#monoMs += ms;
  }

  set(byMs: number): void {
    this.#wallMs += byMs;
  }
}

/** What is told by these events, a second after each other. */
function troublesOf(...events: Event[]) {
  const clock = new TwoClocks();
  const troubles = new Troubles(clock);
  for (const event of events) {
    troubles.observe(event);
    clock.goOn(1_000);
  }
  return troubles.list(NOTHING_ENDS);
}

function situation(
  troubles: ReturnType<typeof troublesOf>,
  more: Partial<Parameters<typeof situationOf>[0]> = {},
) {
  return situationOf({
    nowMs: Date.UTC(2026, 0, 2, 4),
    bootMs: 0,
    pid: 4_711,
    readiness: { ready: true, draining: false, credentials: {} },
    status: {
      version: '1',
      uptimeSeconds: 60,
      configuredAt: '2026-01-02T03:00:00.000Z',
      requestsInFlight: 2,
    } as Status,
    requests: [],
    troubles,
    jumps: [],
    pauses: [],
    logLoss: undefined,
    memory: {
      heapBytes: 20 * MIB,
      heapLimitBytes: 100 * MIB,
      residentBytes: 60 * MIB,
      peakBytes: 70 * MIB,
      allowedBytes: undefined,
    },
    ...more,
  });
}

const words = (told: Situation['now']) => told.map(({ what }) => what);

t.test('the same again is told once, with how often and since when', async (t) => {
  const [trouble, ...others] = troublesOf(
    failed('It is down.'),
    failed('It is down.'),
    failed('It is down.'),
  );
  t.equal(others.length, 0);
  t.match(trouble, {
    times: 3,
    what: /^The login of credential "token" failed: It is down\. The token at hand/,
  });
  t.equal(trouble!.atMs - trouble!.sinceMs, 2_000);
});

t.test('a login ends what was wrong with that credential, and what comes after is told anew', async (t) => {
  const list = troublesOf(failed('It is down.'), SUCCEEDED, failed('It is down.', false));
  t.match(list, [
    { times: 1, overMs: undefined, what: /There was no token/ },
    { times: 1, overMs: Number },
  ]);
});

t.test(
  'a route whose newest answers all refuse is wrong now; other routes and mixed answers are not',
  async (t) => {
    let startedMonoMs = 10_000;
    const answers = (route: string, ...statuses: number[]) =>
      statuses.map((status) => {
        startedMonoMs -= 1_000;
        return {
          type: 'request',
          route,
          status,
          aborted: false,
          startedMonoMs,
          durationMs: 1,
        } as RequestEvent;
      });
    const wrong = (requests: RequestEvent[]) => situation([], { requests }).now;
    t.match(wrong([...answers('/a', 401, 401, 401, 200, 401), ...answers('/b', 200)]), [
      {
        times: 3,
        what: 'The upstream refuses all requests of route /a: the last 3 were answered with 401.',
        overAt: null,
      },
    ]);
    t.match(words(wrong(answers('/a', 503, 503, 503, 503))), [/the last 4 were answered with 503/]);
    for (const statuses of [
      [401, 401],
      [200, 401, 401, 401],
      [401, 403, 401],
      [404, 404, 404],
    ])
      t.same(wrong(answers('/a', ...statuses)), [], String(statuses));
  },
);

/** Requests that are over, a second before each other: the newest first. */
function requestsOf(count: number, fields: Partial<RequestEvent>): RequestEvent[] {
  const event = { type: 'request', method: 'GET', path: '/x', route: '/', status: 200, aborted: false };
  return Array.from(
    { length: count },
    (_, n) => ({ ...event, startedMonoMs: 100_000 - n * 1_000, durationMs: 1, ...fields }) as RequestEvent,
  );
}

t.test(
  'many requests that bearerd refused within a minute are a trouble of now; a few are not',
  async (t) => {
    const late = (count: number) => requestsOf(count, { status: 408, code: 'request-timeout', route: '' });
    const told = (requests: RequestEvent[], nowMs = 101_000) => situation([], { requests, nowMs });
    const many = told([...late(12), ...requestsOf(2, {})]);
    t.match(many.now, [
      {
        what: '12 of the 14 requests of the last minute were refused with 408 request-timeout.',
        remedy: String,
      },
    ]);
    t.match(situationText(many), /: 14 finished recently, 12 of them failed \(12 with 408 request-timeout\)/);
    t.match(situationText(many), /^Now: all credentials are ready, but there is a problem:\n- 12 of the 14 /);
    t.match(words(told(late(10)).now), [/^All 10 requests of the last minute were refused/]);
    t.same(told(late(9)).now, [], 'too few');
    t.same(told([...late(12), ...requestsOf(12, {})]).now, [], 'half were served');
    t.same(told(late(12), 900_000).now, [], 'long ago');
    t.match(situationText(told(late(2))), /nothing else is known to be wrong[\s\S]*Lately: no other trouble/);
  },
);

t.test(
  'an upstream that asks to wait is a trouble of now until then, or until it answers again',
  async (t) => {
    const asking = (retryAfter: string) => {
      const attempt = new AttemptRecord('https://api.example.com', 0, undefined);
      attempt.status = 503;
      attempt.retryAfter = retryAfter;
      return requestsOf(1, { status: 503, attempt });
    };
    const served = requestsOf(1, { attempt: new AttemptRecord('https://api.example.com', 0, undefined) });
    const told = (requests: RequestEvent[], nowMs = 101_000) => words(situation([], { requests, nowMs }).now);
    const WAITS = 'The upstream answered 503, and asks its callers to wait until';
    t.same(told(asking('17')), [`${WAITS} 1970-01-01T00:01:57Z. (Route /.)`]);
    t.same(told(asking('Thu, 01 Jan 1970 00:02:00 GMT')), [`${WAITS} 1970-01-01T00:02:00Z. (Route /.)`]);
    t.match(told(asking('9'.repeat(40))), [WAITS], 'a time that no calendar has');
    t.same(told(asking('soon')), []);
    t.same(told(asking('17'), 118_000), []);
    t.same(told([...served, ...asking('17')]), []);
  },
);

t.test('what goes on is told as of now, and what is over as of lately', async (t) => {
  const lost: Event = { type: 'secret-trouble', path: '/run/secret', reason: 'it is empty' };
  const during = situation(troublesOf(lost));
  t.match(words(during.now), [/^The secret file \/run\/secret can't be used: It is empty\./]);
  t.same(during.lately, []);
  const after = situation(troublesOf(lost, { type: 'secret-usable', path: '/run/secret' }));
  t.same(after.now, []);
  t.match(after.lately, [{ overAt: String }]);
  t.match(situationText(after), /^Now: all credentials are ready, and nothing is known to be wrong\.\n/);
});

t.test('of a configuration that was refused twice, the last refusal counts', async (t) => {
  const refused = (reason: string): Event => ({ type: 'reload-refused', by: 'SIGHUP', reason });
  const told = situation(troublesOf(refused('a: is wrong\nb: is wrong'), refused('c: is wrong')));
  t.match(words(told.now), [/still in force: c: is wrong\.$/]);
  t.match(words(told.lately), [/a: is wrong; b: is wrong\.$/]);
  const reloaded = situation(
    troublesOf(refused('c'), { type: 'reloaded', by: 'POST /reload', restartNeededFor: ['listen'] }),
  );
  t.same(reloaded.now, []);
  t.match(reloaded.lately[0], { what: /is in force/, remedy: /^Restart bearerd for listen/ });
});

t.test('a file that is taken into use does not end a refusal of everything', async (t) => {
  const list = troublesOf(
    { type: 'reload-refused', by: 'SIGHUP', reason: 'x' },
    { type: 'reloaded', by: '/run/secret', restartNeededFor: [] },
  );
  t.equal(situation(list).now.length, 1);
});

t.test('no more than fifty are kept, and what goes on is kept longest', async (t) => {
  const events = Array.from(
    { length: 80 },
    (_, n): Event => ({ type: 'internal-error', where: `place ${n}`, cause: undefined }),
  );
  const list = troublesOf({ type: 'secret-trouble', path: '/x', reason: 'it is empty' }, ...events);
  t.equal(list.length, 50);
  t.match(list.at(-1), { what: /secret file \/x/ });
  const long = troublesOf({ type: 'reload-refused', by: 'SIGHUP', reason: 'x'.repeat(100_000) });
  t.ok(long[0]!.what.length <= 2_000);
});

t.test('the text escapes what would act on a terminal', async (t) => {
  const list = troublesOf({ type: 'secret-trouble', path: '/\x1b[2J', reason: 'it is empty' });
  t.notMatch(situationText(situation(list)), /\x1b/);
});

t.test('a clock that is set is noticed, and one that runs a little fast is not', async (t) => {
  const clock = new TwoClocks();
  const watch = new ClockWatch(clock);
  for (let day = 0; day < 30; day++) {
    clock.goOn(86_400_000);
    clock.set(4_000);
    watch.look();
  }
  t.same(watch.jumps, []);
  clock.set(3_600_000);
  watch.look();
  clock.set(-3_600_000);
  watch.look();
  watch.look();
  t.match(watch.jumps, [{ byMs: 3_600_000 }, { byMs: -3_600_000 }]);
  const text = situationText(situation([], { jumps: watch.jumps }));
  t.match(text, /clock was set back by 60 min/);
  t.match(text, /clock jumped ahead by 60 min: it was set/);
});

t.test('lost lines of the log are a trouble of now for a minute, or for good without a reader', async (t) => {
  const loss = { lines: 3, code: 'ENOSPC', lastMs: 1_000, forGood: false };
  t.match(logTrouble(loss, 30_000), {
    lasts: true,
    what: /^3 lines .*the disk is full/,
    remedy: /^Make room/,
  });
  t.equal(logTrouble(loss, 90_000).lasts, false);
  t.equal(logTrouble({ ...loss, code: 'EPIPE', forGood: true }, 90_000).lasts, true);
  t.match(logTrouble({ ...loss, code: 'EIO' }, 0), { what: /failed \(EIO\)/ });
});

t.test('memory is a trouble when nine tenths of it are used: of the heap, or of the container', async (t) => {
  const memory = {
    heapBytes: 50 * MIB,
    heapLimitBytes: 64 * MIB,
    residentBytes: 100 * MIB,
    peakBytes: 100 * MIB,
    allowedBytes: 128 * MIB,
  };
  t.equal(memoryTrouble(memory, 0), undefined);
  t.match(memoryTrouble({ ...memory, heapBytes: 60 * MIB }, 0), { what: /60 of 64 MiB.*134/ });
  t.match(memoryTrouble({ ...memory, residentBytes: 120 * MIB }, 0), { what: /120 of the 128 MiB.*137/ });
  t.equal(memoryTrouble({ ...memory, residentBytes: 2 ** 40, allowedBytes: undefined }, 0), undefined);
});

t.test('a pause says how long the process did not run', async (t) => {
  const text = situationText(
    situation([], { pauses: [{ ms: 2_400, endedMs: Date.UTC(2026, 0, 2, 3, 59) }] }),
  );
  t.match(text, /^- 2026-01-02T03:59:00Z \(60 s ago\): The process did not run for 2\.4 s/m);
});

t.test('a token that was lost is waited for, and one that never was is not there yet', async (t) => {
  const credential = { expiresInSeconds: null, reason: null, nextLoginInSeconds: 0 };
  const lines = (state: string) =>
    failingLogins({ ready: false, draining: false, credentials: { a: { ...credential, state } } }, {});
  t.same(lines('expired'), [
    'credential a is not ready (expired): the login for a new one has not ended yet.',
  ]);
  t.same(lines('starting'), ['credential a is not ready (starting): no login has ended yet.']);
  const rejected: Event = {
    type: 'token-rejected',
    credential: 'a',
    state: 'expired',
    fingerprint: 'f',
    nextTryInMs: 900,
  };
  const expired: Event = { ...rejected, type: 'token-expired' };
  const credentials = { a: { ...credential, state: 'expired' } };
  const readiness = { ready: false, draining: false, credentials };
  const now = (...events: Event[]) => words(situation(troublesOf(...events), { readiness }).now);
  t.same(now(expired, rejected), [
    'credential a is not ready: the upstream rejected its token. Next try in 1 s.',
  ]);
  t.match(now(rejected, expired), [/the login for a new one has not ended yet/]);
});
