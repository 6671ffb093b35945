import type { Test } from 'tap';
import { MachineLoad } from '../support/machine-load.ts';
import { PATIENCE_MS, until } from '../support/raw-client.ts';
import { UPLOAD_DIGEST } from './visit.ts';
import type { World } from './world.ts';

/** In which it has to be well again once the fault is over, where the machine lets this process run. */
export const RECOVERY_MS = 5_000;
/** Methods of which a second arrival does no harm. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/** After a fault: a request is served as if nothing had been. */
export async function recovers(world: World, withinMs = RECOVERY_MS): Promise<void> {
  if (withinMs === Number.POSITIVE_INFINITY) return;
  const began = performance.now();
  const load = new MachineLoad();
  await until(
    async () => {
      const { status, right } = await world.visit('GET');
      return status === 200 && right;
    },
    `it has not recovered: ${JSON.stringify(world.outcomes.at(-1))}`,
    withinMs + PATIENCE_MS,
  );
  const disturbance = load.end();
  const tookMs = performance.now() - began;
  if (tookMs > withinMs && disturbance === undefined)
    throw new Error(`it has recovered, but after ${tookMs} ms`);
}

/** What holds whatever has happened. */
export async function assertFacts(t: Test, world: World): Promise<void> {
  const { proxy, ledger, issuer, outcomes, session, upstream } = world;
  await until(() => proxy.gateway.inFlight === 0, 'requests are left under way');
  const told = proxy.requests().filter(({ path }) => path !== '');
  if (!Number.isNaN(world.unseen))
    t.equal(told.length, outcomes.length + world.unseen, 'each request has one outcome, and is told once');
  for (const outcome of outcomes) {
    const entries = ledger.of(outcome.id);
    const label = `${outcome.id} (${outcome.kind})`;
    // A 401 says that the first has not been acted on.
    const acted = entries.filter(({ status }) => status !== 401);
    if (!IDEMPOTENT.has(entries[0]?.method ?? 'GET'))
      t.ok(acted.length <= 1, `${label} arrived ${acted.length} times`);
    t.ok(entries.length <= 3, `${label} was sent ${entries.length} times`);
    if (outcome.status === 200 || outcome.status === 101)
      t.ok(outcome.right || !outcome.whole, `${label}: a wrong answer looks whole`);
  }
  for (const { number, verdict, whole, digest, method, bytes } of ledger.entries) {
    t.ok(
      verdict === 'good' || verdict === 'revoked',
      `arrival ${number} had a credential that is ${verdict}`,
    );
    if (method === 'POST' && whole && bytes === 1 << 20)
      t.equal(digest, UPLOAD_DIGEST, `arrival ${number} is what was sent`);
  }
  t.equal(issuer.strays, 0, 'the session endpoint gets nothing but logins');
  const { loginsMs } = issuer;
  const spanS = (loginsMs.at(-1)! - loginsMs[0]!) / 1_000;
  // Seen from the other end of a busy machine; to the millisecond it is held by the fake clock of test/tokens.
  t.ok(loginsMs.length <= spanS + 4, `${loginsMs.length} logins in ${spanS} s`);
  t.same(proxy.internalErrors(), []);
  await proxy.gateway.destroy();
  await until(() => upstream.open === 0, 'connections to the upstream are left');
  await until(() => session.open === 0, 'connections to the session endpoint are left');
}
