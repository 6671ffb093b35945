import { execFileSync } from 'node:child_process';
import t from 'tap';
import { expiryOf, serverNowMs } from '../../src/login/expiry.ts';
import { parseHttpDate, parseRetryAfter } from '../../src/login/http-date.ts';
import { parseTimestamp } from '../../src/login/timestamp.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const SECOND = 1000;
const DAY = 86_400 * SECOND;
/** The second in which the year 9999 ends. */
const TO_THE_END = Date.UTC(9999, 11, 31, 23, 59, 59) - NOW;
const ASSUMED = 900 * SECOND;

const TIMESTAMPS: Readonly<Record<string, number | undefined>> = {
  // The API's own form: without a zone the time is UTC, whatever the zone of the machine.
  '2026-01-02T03:04:05.678901': NOW,
  '2026-01-02T03:04:05.678': NOW,
  '2026-01-02T03:04:05.678901234': NOW,
  '2026-01-02T03:04:05.6': NOW - 78,
  '2026-01-02T03:04:05.67': NOW - 8,
  '2026-01-02T03:04:05': NOW - 678,
  '2026-01-02T03:04:05,678901': NOW,
  '2026-07-02T03:04:05': Date.UTC(2026, 6, 2, 3, 4, 5),
  // An hour that New York skips in spring, and one that it repeats in autumn.
  '2026-03-08T02:30:00': Date.UTC(2026, 2, 8, 2, 30),
  '2026-11-01T01:30:00': Date.UTC(2026, 10, 1, 1, 30),
  // Zones.
  '2026-01-02T03:04:05.678901Z': NOW,
  '2026-01-02t03:04:05.678901z': NOW,
  '2026-01-02 03:04:05.678901': NOW,
  ' 2026-01-02T03:04:05.678901Z ': NOW,
  '2026-01-02T03:04:05.678901+00:00': NOW,
  '2026-01-02T03:04:05.678901-00:00': NOW,
  '2026-01-02T12:04:05.678901+09:00': NOW,
  '2026-01-01T22:04:05.678901-05:00': NOW,
  '2026-01-02T08:34:05.678+0530': NOW,
  '2026-01-02T04:04:05.678+01': NOW,
  '2026-01-01T03:05:05.678-23:59': NOW,
  // The calendar.
  '2024-02-29T00:00:00': Date.UTC(2024, 1, 29),
  '2000-02-29T00:00:00': Date.UTC(2000, 1, 29),
  '2026-02-29T00:00:00': undefined,
  '2100-02-29T00:00:00': undefined,
  '2026-02-30T00:00:00': undefined,
  '2026-04-31T00:00:00': undefined,
  '2026-13-01T00:00:00': undefined,
  '2026-00-01T00:00:00': undefined,
  '2026-01-00T00:00:00': undefined,
  '2026-01-32T00:00:00': undefined,
  '2026-01-02T24:00:00': undefined,
  '2026-01-02T03:60:00': undefined,
  '2026-01-02T03:04:61': undefined,
  '2026-06-30T23:59:60Z': Date.UTC(2026, 5, 30, 23, 59, 59),
  '9999-12-31T23:59:59.999999': Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  '0001-01-01T00:00:00': -62_135_596_800_000,
  '0099-01-01T00:00:00Z': -59_042_995_200_000,
  '1970-01-01T00:00:00': 0,
  // Something else.
  '2026-01-02T03:04:05+24:00': undefined,
  '2026-01-02T03:04:05+09:60': undefined,
  '2026-01-02T03:04:05 UTC': undefined,
  '2026-01-02T03:04:05[Asia/Tokyo]': undefined,
  '2026-01-02T03:04:05.': undefined,
  '2026-01-02T03:04': undefined,
  '2026-01-02': undefined,
  '+002026-01-02T03:04:05': undefined,
  '20260102T030405': undefined,
  'Fri, 02 Jan 2026 03:04:05 GMT': undefined,
  '1767323045': undefined,
  '': undefined,
  soon: undefined,
};

t.test('a timestamp is read exactly, or not at all', async (t) => {
  for (const [text, expected] of Object.entries(TIMESTAMPS))
    t.equal(parseTimestamp(text), expected, JSON.stringify(text));
  for (const value of [NOW, 1_767_323_045, true, {}, [], null, undefined])
    t.equal(parseTimestamp(value), undefined);
});

t.test('the time zone of the machine makes no difference', async (t) => {
  const dates = [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ];
  const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { parseTimestamp } from ${at('../../src/login/timestamp.ts')};
    import { parseHttpDate } from ${at('../../src/login/http-date.ts')};
    const times = ${JSON.stringify(Object.keys(TIMESTAMPS))}.map((text) => parseTimestamp(text) ?? null);
    const dates = ${JSON.stringify(dates)}.map((text) => parseHttpDate(text) ?? null);
    console.log(JSON.stringify({ offset: new Date(${NOW}).getTimezoneOffset(), times, dates }));`;
  const offsets = { 'Asia/Tokyo': -540, 'America/New_York': 300, UTC: 0 };
  for (const [zone, offset] of Object.entries(offsets)) {
    const env = { PATH: process.env.PATH, TZ: zone };
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env,
      encoding: 'utf8',
    });
    const result: unknown = JSON.parse(output);
    t.same(result, {
      offset,
      times: Object.values(TIMESTAMPS).map((ms) => ms ?? null),
      dates: dates.map(() => 784_111_777_000),
    });
  }
});

interface Case {
  readonly fields: Record<string, unknown>;
  readonly lifetime: number;
  readonly by?: string;
  readonly unreadable?: readonly string[];
  readonly token?: string;
  readonly elapsedMs?: number;
  readonly dateMs?: number;
}

const jwt = (claims: unknown) =>
  ['{"alg":"none"}', JSON.stringify(claims), 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const inMs = (ms: number) => new Date(NOW + ms).toISOString().slice(0, -1);
const epoch = Math.floor(NOW / SECOND);

const EXPIRIES: Readonly<Record<string, Case>> = {
  'expiresAt in UTC without a zone': {
    fields: { expiresAt: inMs(300_000) },
    lifetime: 300_000,
    by: 'expiresAt',
  },
  'expiresAt with an offset': { fields: { expiresAt: '2026-01-02T12:14:05.678+09:00' }, lifetime: 600_000 },
  'expiresAt before all others': {
    fields: { expiresAt: inMs(1000), expires_at: inMs(2000), expires_in: 3, expiresIn: 4 },
    lifetime: 1000,
    token: jwt({ exp: epoch + 60 }),
  },
  'expires_at as a timestamp': {
    fields: { expires_at: inMs(5000), expires_in: 9 },
    lifetime: 5000,
    by: 'expires_at',
  },
  'expires_at in epoch seconds': { fields: { expires_at: epoch + 60 }, lifetime: 60_000 - 678 },
  'expires_at in epoch seconds with a fraction': { fields: { expires_at: NOW / 1000 + 1.5 }, lifetime: 1500 },
  'expires_at as digits': { fields: { expires_at: String(epoch + 60) }, lifetime: 60_000 - 678 },
  'expires_at in milliseconds, which is no time before the year 9999': {
    fields: { expires_at: NOW + 60_000 },
    lifetime: ASSUMED,
    by: 'assumed',
    unreadable: ['expires_at'],
  },
  'expires_in as a number': { fields: { expires_in: 3600 }, lifetime: 3600 * SECOND, by: 'expires_in' },
  'expires_in as digits': { fields: { expires_in: '3600' }, lifetime: 3600 * SECOND },
  'expires_in as digits with blanks': { fields: { expires_in: ' 3600 ' }, lifetime: 3600 * SECOND },
  'expires_in with a fraction': { fields: { expires_in: 0.5 }, lifetime: 500 },
  'expires_in before expiresIn': { fields: { expires_in: 10, expiresIn: 20 }, lifetime: 10_000 },
  'expiresIn alone': { fields: { expiresIn: 20 }, lifetime: 20_000, by: 'expiresIn' },
  'expires_in 0 is dead on arrival': { fields: { expires_in: 0 }, lifetime: 0 },
  'expires_in -1 is dead on arrival': { fields: { expires_in: -1 }, lifetime: -1000 },
  'expires_in 1e10 is three centuries': { fields: { expires_in: 1e10 }, lifetime: 1e13 },
  'the largest number is cut to the end of the year 9999': {
    fields: { expires_in: Number.MAX_VALUE },
    lifetime: TO_THE_END,
  },
  'the year 9999 is taken as it is': {
    fields: { expiresAt: '9999-12-31T23:59:59.999999' },
    lifetime: TO_THE_END,
  },
  '40 days are 40 days': { fields: { expiresAt: inMs(40 * DAY) }, lifetime: 40 * DAY },
  'a past expiresAt is dead on arrival': { fields: { expiresAt: inMs(-1000) }, lifetime: -1000 },
  'a past expiresAt wins over a good expires_in': {
    fields: { expiresAt: inMs(-1), expires_in: 60 },
    lifetime: -1,
  },
  'a slow answer counts from when it was asked for': {
    fields: { expires_in: 10 },
    elapsedMs: 6000,
    lifetime: 4000,
  },
  'a slow answer does not shorten an absolute time': {
    fields: { expiresAt: inMs(4000) },
    elapsedMs: 6000,
    lifetime: 4000,
  },
  'a slow answer can be dead on arrival': { fields: { expires_in: 5 }, elapsedMs: 6000, lifetime: -1000 },
  "a JWT's exp": { fields: {}, token: jwt({ exp: epoch + 90 }), lifetime: 90_000 - 678, by: 'jwt exp' },
  "a JWT's past exp": { fields: {}, token: jwt({ exp: epoch - 90 }), lifetime: -90_678 },
  "expires_in before a JWT's exp": {
    fields: { expires_in: 10 },
    token: jwt({ exp: epoch + 90 }),
    lifetime: 10_000,
  },
  "a JWT's exp that is no number": {
    fields: {},
    token: jwt({ exp: 'soon' }),
    lifetime: ASSUMED,
    by: 'assumed',
    unreadable: ['jwt exp'],
  },
  'a JWT without exp': { fields: {}, token: jwt({ sub: 'x' }), lifetime: ASSUMED, by: 'assumed' },
  'a JWT whose claims are null': { fields: {}, token: jwt(null), lifetime: ASSUMED },
  'two dots that make no JWT': { fields: {}, token: 'a.b.c', lifetime: ASSUMED },
  'nothing at all': { fields: {}, lifetime: ASSUMED, by: 'assumed' },
  'nothing at all, slowly': { fields: {}, elapsedMs: 6000, lifetime: ASSUMED - 6000 },
  'null counts as absent': {
    fields: { expiresAt: null, expires_in: null },
    lifetime: ASSUMED,
    unreadable: [],
  },
  'an unreadable expiresAt gives way to expires_in': {
    fields: { expiresAt: '2026-02-30T00:00:00', expires_in: 60 },
    lifetime: 60_000,
    by: 'expires_in',
    unreadable: ['expiresAt'],
  },
  'a number is no expiresAt': {
    fields: { expiresAt: epoch + 60, expiresIn: 60 },
    lifetime: 60_000,
    by: 'expiresIn',
    unreadable: ['expiresAt'],
  },
  'everything unreadable': {
    fields: { expiresAt: 'never', expires_at: {}, expires_in: 'NaN', expiresIn: true },
    lifetime: ASSUMED,
    by: 'assumed',
    unreadable: ['expiresAt', 'expires_at', 'expires_in', 'expiresIn'],
  },
  'NaN, Infinity and odd digits are unreadable': {
    fields: { expires_at: Number.NaN, expires_in: Number.POSITIVE_INFINITY, expiresIn: '1e3' },
    lifetime: ASSUMED,
    unreadable: ['expires_at', 'expires_in', 'expiresIn'],
  },
  'a list and an empty text are unreadable': {
    fields: { expiresAt: '', expires_in: [60] },
    lifetime: ASSUMED,
    unreadable: ['expiresAt', 'expires_in'],
  },
  // The `Date` header has whole seconds: our clock counts while both can be right.
  'a Date that agrees changes nothing': {
    fields: { expiresAt: inMs(60_000) },
    dateMs: NOW - 678,
    lifetime: 60_000,
  },
  'a Date that agrees with a slow answer': {
    fields: { expiresAt: inMs(60_000) },
    dateMs: NOW - 5678,
    elapsedMs: 6000,
    lifetime: 60_000,
  },
  'our clock is an hour ahead': {
    fields: { expiresAt: inMs(-3_540_000) },
    dateMs: NOW - 3_600_000,
    lifetime: 60_000 - 999,
  },
  'our clock is an hour behind': {
    fields: { expiresAt: inMs(3_660_000) },
    dateMs: NOW + 3_600_000,
    lifetime: 60_000 - 999,
  },
  'our clock is behind and the answer slow': {
    fields: { expiresAt: inMs(3_660_000) },
    dateMs: NOW + 3_600_000,
    elapsedMs: 2000,
    lifetime: 60_000 - 2999,
  },
  'a wrong clock makes no difference to expires_in': {
    fields: { expires_in: 60 },
    dateMs: NOW - DAY,
    lifetime: 60_000,
  },
  'a wrong clock makes a difference to a JWT': {
    fields: {},
    token: jwt({ exp: epoch - 3540 }),
    dateMs: NOW - 3_600_000,
    lifetime: 60_000 - 678 - 999,
  },
};

t.test('every form of expiry gives a lifetime', async (t) => {
  for (const [name, { fields, token = 'opaque', elapsedMs = 0, dateMs, ...expected }] of Object.entries(
    EXPIRIES,
  )) {
    const timing = { receivedWallMs: NOW, elapsedMs, serverDateMs: dateMs };
    const expiry = expiryOf(fields, token, timing);
    t.equal(Math.round(expiry.lifetimeMs), Math.round(expected.lifetime), name);
    if (expected.by !== undefined) t.equal(expiry.source, expected.by, `${name}: by ${expected.by}`);
    if (expected.unreadable !== undefined)
      t.same(expiry.unreadable, expected.unreadable, `${name}: unreadable`);
  }
});

t.test("a correction never makes the server's time earlier than it can be", async (t) => {
  // Whatever our clock says, a token is not used past its end on the server.
  for (const skew of [-DAY, -2000, -500, -1, 0, 1, 500, 1999, 2001, DAY]) {
    for (const elapsedMs of [0, 300, 6000]) {
      for (const serverMs of [NOW, NOW + 1, NOW + 321, NOW + 322]) {
        // The server made its Date header at some moment between request and answer.
        const serverDateMs = Math.floor((serverMs - elapsedMs / 2) / SECOND) * SECOND;
        const seen = serverNowMs({ receivedWallMs: serverMs + skew, elapsedMs, serverDateMs });
        const believed = seen === serverMs + skew;
        t.ok(
          seen >= serverMs || (believed && Math.abs(skew) <= 999 + elapsedMs),
          `${skew} ms, ${elapsedMs} ms`,
        );
      }
    }
  }
});

t.test('a Date header is read in the three forms of HTTP, and in no other', async (t) => {
  const at = Date.UTC(1994, 10, 6, 8, 49, 37);
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    ' Sun, 06 Nov 1994 08:49:37 GMT ',
  ]) {
    t.equal(parseHttpDate(text), at, text);
  }
  for (const text of [
    undefined,
    '',
    'GMT',
    '1e9 GMT',
    '5 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    '1994-11-06T08:49:37Z',
  ]) {
    t.equal(parseHttpDate(text), undefined, text ?? 'absent');
  }
});

t.test('Retry-After is read as seconds or as a date', async (t) => {
  const cases: Readonly<Record<string, number | undefined>> = {
    '0': 0,
    '7': 7000,
    ' 120 ': 120_000,
    '1000000000': 1e12,
    'Fri, 02 Jan 2026 03:05:05 GMT': 60_000 - 678,
    'Fri, 02 Jan 2026 03:00:00 GMT': 0,
    '-1': undefined,
    '1.5': undefined,
    '1e9': undefined,
    '5 GMT': undefined,
    soon: undefined,
    '': undefined,
  };
  for (const [text, expected] of Object.entries(cases))
    t.equal(parseRetryAfter(text, NOW), expected, JSON.stringify(text));
  t.equal(parseRetryAfter(undefined, NOW), undefined);
  t.equal(parseRetryAfter('9'.repeat(400), NOW), Number.POSITIVE_INFINITY, 'the schedule applies the limit');
});
