import { setTimeout as sleep } from 'node:timers/promises';
import { Issuer } from '../faults/issuer.ts';
import { type Answer, type Entry, Ledger, respond, type Wire } from '../faults/ledger.ts';
import { QuickClock } from '../faults/quick-clock.ts';
import type { Arrivals, Orders } from './orders.ts';
import { BIG, EVENTS, eventOf, TOKEN_LIFE_MS } from './scale.ts';
import { ODD_ANSWERS } from './session-answers.ts';

// The session endpoint and the upstream, in a process of their own that can be stopped as a whole.

const lifetime = { teardown: () => {} }; // The servers end with the process.
const issuer = await Issuer.startedFor(lifetime, new QuickClock(1));
issuer.lifetimeMs = TOKEN_LIFE_MS;
issuer.leewayMs = 1_000;
const ledger = await Ledger.startedFor(lifetime, process.argv[2] as Wire, (lines) => issuer.judge(lines));

const expiredMs: number[] = [];
const twice: string[] = [];
const changed: string[] = [];
const verdicts: Record<string, number> = {};
const acted = new Set<string>();
let requests = 0;

async function tellEvents(entry: Entry, response: Parameters<Answer>[1]): Promise<void> {
  entry.status = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < EVENTS && !response.destroyed; n++) {
    response.write(eventOf(entry.id));
    await sleep(100);
  }
  if (!response.destroyed) response.end();
}

const serve: Answer = (entry, response) => {
  const path = entry.request.url!;
  const body = path.endsWith('/big') ? BIG : Buffer.from(`${entry.id} ${entry.digest}`);
  if (path.endsWith('/events')) void tellEvents(entry, response);
  else
    respond(entry, response, 200, body, path.endsWith('/chunked') ? {} : { 'content-length': body.length });
};

const unavailable: Answer = (entry, response) =>
  respond(entry, response, 503, 'later', { 'retry-after': '1' });

ledger.answer = serve;
ledger.reached = (step, { method, verdict, digest, id, request }) => {
  if (step === 'head') {
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    if (verdict === 'expired') expiredMs.push(Date.now());
  } else if (
    step === 'whole' &&
    method === 'POST' &&
    'x-digest' in request.headers &&
    digest !== request.headers['x-digest']
  )
    changed.push(id);
};

/** Records of a finished request only what a second arrival could contradict. */
function sweep(): void {
  const open = ledger.entries.filter(({ closed }) => !closed);
  for (const { closed, method, status, id, request } of ledger.entries) {
    if (!closed) continue;
    requests++;
    // A request with a 401 was not acted on, and one of a client that leaves half-way has no ID.
    if (method !== 'POST' || status === 401 || request.headers['x-id'] === undefined) continue;
    if (acted.has(id)) twice.push(id);
    acted.add(id);
  }
  ledger.entries.splice(0, Number.POSITIVE_INFINITY, ...open);
}

function arrivals(): Arrivals {
  sweep();
  const { loginsMs, strays } = issuer;
  return { requests, logins: loginsMs.length, verdicts, expiredMs, twice, changed, strays };
}

process.on('message', (orders: Orders | 'tell') => {
  if (orders === 'tell') {
    process.send!(arrivals());
    return;
  }
  const { session, upstream, revoke } = orders;
  if (session !== undefined) issuer.answer = session === 'grant' ? undefined : ODD_ANSWERS[session];
  if (upstream !== undefined) ledger.answer = upstream === 'serve' ? serve : unavailable;
  if (revoke === true) issuer.revokeAll();
});
process.on('disconnect', () => process.exit());
setInterval(sweep, 1_000);
process.send!({ session: issuer.port, upstream: ledger.port });
