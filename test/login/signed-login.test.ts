import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import t, { type Test } from 'tap';
import type { LoginError } from '../../src/base/login-error.ts';
import { Secret } from '../../src/base/secret.ts';
import { createOAuth2Login } from '../../src/login/oauth2-endpoint.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loginServer } from '../support/login-server.ts';
import { outcomeOf } from '../support/outcome.ts';
import { until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// A login that signs its request signs the time, too. A server refuses a time that differs from its own.

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const SERVER_NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const DATE = 'date: Fri, 02 Jan 2026 03:04:05 GMT';

/** A token endpoint, a machine whose clock is `aheadMs` ahead of it, and the `iat` of each login. */
async function world(t: Test, aheadMs: number, date = DATE) {
  const endpoint = await RawUpstream.startedFor(t);
  const issued: number[] = [];
  endpoint.onRequest = async ({ message }) => {
    const form = new URLSearchParams((await message).body.toString('latin1'));
    const { iat, exp } = decodeJwt(form.get('client_assertion')!);
    issued.push(iat! * 1000 - SERVER_NOW_MS);
    const isValid = iat! * 1000 <= SERVER_NOW_MS && exp! * 1000 > SERVER_NOW_MS;
    if (isValid) return ok('{"access_token":"tok-1","expires_in":60}', date);
    const body = '{"error":"invalid_client"}';
    return head('401 No', date, `content-length: ${body.length}`) + body;
  };
  const clock = new FakeClock(SERVER_NOW_MS + aheadMs);
  const folder = t.testdir({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string });
  const login = createOAuth2Login(
    { at: async (at) => loginServer(at) },
    {
      kind: 'oauth2',
      name: 'partner',
      origins: [],
      header: 'Authorization',
      scheme: 'Bearer',
      tokenEndpoint: { origin: endpoint.url, path: '/token' },
      clientId: new Secret('id'),
      clientAuthentication: 'privateKeyJwt',
      algorithm: 'ES256',
      privateKey: { path: join(folder, 'key'), shown: 'key' },
      parameters: {},
    },
    clock,
  );
  const logIn = () => outcomeOf(login(new AbortController().signal));
  return { issued, clock, logIn };
}

t.test(
  'with a wrong clock the login is refused, and a second later sent again with the time of the server\u2019s Date',
  async (t) => {
    for (const aheadMs of [300_000, -300_000, 3_600_000]) {
      const { issued, clock, logIn } = await world(t, aheadMs);
      const result = logIn();
      await until(() => issued.length === 1 && clock.sleeping > 0, 'no second login is planned');
      t.same(issued, [aheadMs], 'the first login has our own time');
      await clock.advance(999);
      t.equal(issued.length, 1, 'no second login within a second');
      // The server's clock is a constant here.
      await clock.stepWall(-999);
      await clock.advance(1);
      await clock.stepWall(-1);
      t.match(await result, { token: 'tok-1' }, `${aheadMs} ms ahead`);
      t.ok(Math.abs(issued[1]!) <= 2_000 && issued[1]! <= 0, `the second is by the server's: ${issued[1]}`);
      t.match(await logIn(), { token: 'tok-1' });
      t.equal(issued.length, 3, 'the next login has the corrected time');
    }
  },
);

t.test('with a correct clock, or without a Date, there is no second login', async (t) => {
  for (const [aheadMs, date] of [
    [0, DATE],
    [500, DATE],
    [300_000, 'x-date: none'],
  ] as const) {
    const { issued, logIn } = await world(t, aheadMs, date);
    await logIn();
    t.equal(issued.length, 1, `${aheadMs} ${date}`);
  }
});

t.test('the error of a login that is refused with the corrected time, too, names the clock', async (t) => {
  const { issued, clock, logIn } = await world(t, 300_000, 'date: Fri, 02 Jan 2026 04:00:00 GMT');
  const result = logIn();
  await until(() => issued.length === 1 && clock.sleeping > 0, 'no second login is planned');
  await clock.advance(1_000);
  const error = (await result) as LoginError;
  t.match(error, { code: 'refused', status: 401 });
  t.match(error.message, /\. Note: this machine's clock is 305\d s behind the server's\.$/);
  t.ok(error.message.endsWith(error.remedy!), 'the remedy is the end of the message');
  t.equal(issued.length, 2);
});
