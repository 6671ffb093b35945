import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { until } from '../support/raw-client.ts';
import { Issuer } from './issuer.ts';
import { Program } from './program.ts';
import { report } from './report.ts';
import { serve } from './upstream.ts';

// npm run rotation -- [REQUESTS [RENEWALS]]: requests while their token is renewed again and again, in about eight minutes.

const [requests = 1_000_000, renewals = 200] = process.argv.slice(2).map(Number);
const CONNECTIONS = 64;
/** A renewal comes at 72 to 80 % of a token's life. */
const BETWEEN_RENEWALS_MS = 2_250;
const TICK_MS = 10;
const CROWD = 1_000;
/** The life of a token whose next renewal must not fall into a crowd's requests, however slow the machine is. */
const LONG_MS = 600_000;

const issuer = new Issuer();
const url = await serve(issuer, (request, response) => {
  request.resume();
  response.end('ok');
});
const program = await Program.started(url, { BEARERD_MAX_CONNECTIONS: '5000' });

let failed = 0;
async function ask(pool: Pool): Promise<void> {
  const { statusCode, body } = await pool.request({ path: '/x', method: 'GET' });
  if (statusCode !== 200 || (await body.text()) !== 'ok') throw new Error(`status ${statusCode}`);
}

/** @returns the number of failed requests; prints the first */
async function crowd(pool: Pool, size: number): Promise<number> {
  const all = await Promise.allSettled(Array.from({ length: size }, () => ask(pool)));
  const rejected = all.filter(({ status }) => status === 'rejected');
  if (rejected[0] !== undefined) process.stderr.write(`${(rejected[0] as PromiseRejectedResult).reason}\n`);
  return rejected.length;
}

/** Sends the requests that are due, so that all are spread evenly over all renewals. */
async function rotate() {
  const pool = new Pool(program.url, { connections: CONNECTIONS });
  const perMs = requests / (renewals * BETWEEN_RENEWALS_MS);
  const beginMs = performance.now();
  let sent = 0;
  let underWay = 0;
  while (sent < requests || issuer.logins <= renewals) {
    const due = Math.min((performance.now() - beginMs) * perMs - sent, 2_000 - underWay);
    for (let n = 0; n < due; n++) {
      sent++;
      underWay++;
      ask(pool)
        .catch((error) => {
          if (failed++ === 0) process.stderr.write(`${error}\n`);
        })
        .finally(() => underWay--);
    }
    await sleep(TICK_MS);
  }
  await until(() => underWay === 0, 'a request is not answered', 60_000);
  await pool.close();
  const { seen, logins, used } = issuer;
  return {
    seconds: Math.round((performance.now() - beginMs) / 1_000),
    requests: sent,
    failed,
    credentials: { ...seen },
    logins,
    tokensUsed: used.size,
  };
}

/** The token expires during a slow renewal, and then many requests come at once. */
async function momentOfExpiry(pool: Pool) {
  const before = issuer.logins;
  issuer.takesMs = 2_000;
  await until(() => issuer.logins === before + 1, 'no renewal begins', 10_000);
  issuer.lifetimeMs = LONG_MS;
  await sleep(1_000); // The renewal begins after at most 2.4 of 3 s.
  const failedThen = await crowd(pool, CROWD);
  const logins = issuer.logins - before;
  issuer.takesMs = 0;
  return { requests: CROWD, failed: failedThen, logins };
}

/** Many requests get a 401 at once. The token that they have lives long. */
async function dead(pool: Pool) {
  await sleep(500);
  const { logins } = issuer;
  const refused = issuer.seen.revoked;
  issuer.takesMs = 200;
  issuer.revoke();
  const failedThen = await crowd(pool, CROWD);
  return {
    requests: CROWD,
    refusedUpstream: issuer.seen.revoked - refused,
    failed: failedThen,
    logins: issuer.logins - logins,
  };
}

const rotation = await rotate();
const expired = issuer.seen.expired;
const pool = new Pool(program.url, { connections: CROWD, pipelining: 1 });
await crowd(pool, CROWD); // Opens every connection.
const expiry = await momentOfExpiry(pool);
const refusal = await dead(pool);
const internalErrors = await program.internalErrors();
const figures = { rotation, momentOfExpiry: expiry, deadToken: refusal, internalErrors };
report(figures, {
  'a request failed': rotation.failed + expiry.failed + refusal.failed === 0,
  'an expired token was sent': expired === 0 && issuer.seen.expired === 0 && issuer.seen.wrong === 0,
  'a login was for nothing': rotation.tokensUsed >= rotation.logins - 1,
  'the moment of expiry cost more than one login': expiry.logins === 1,
  'a dead token cost more than one login': refusal.logins === 1,
  'an internal error was counted': internalErrors === 0,
});
program.stop();
process.exit();
