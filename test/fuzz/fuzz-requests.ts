import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../src/base/events.ts';
import { leaks } from './canaries.ts';
import { Chance, split } from './chance.ts';
import { checkAlive, type FuzzedGateway, Run, ready, startGateway } from './harness.ts';
import { configurationFor, Judge, SECRETS } from './judge.ts';
import { requestsOf } from './request-grammar.ts';
import { StrictReader } from './strict-http.ts';

// Raw requests to three gateways: one that is open, one whose caller key each request has, and one whose key none
// has. The count is that of answers.

const CONNECTIONS = 48;
/** A connection on which nothing comes for so long, after all was sent, is waited for no longer. */
const QUIET_MS = 300;
const ALIVE_EVERY = 500;

const run = new Run();
const faulty = { onFault: run.fault };
const other = await Judge.listening({ ...faulty, other: true });
const judges = [
  await Judge.listening(faulty),
  await Judge.listening(faulty),
  await Judge.listening({ ...faulty, closed: true }),
];
/** These upstreams are good ones: whatever fails there was made to fail by what was sent. */
function blameFor502(event: Event): void {
  if (event.type === 'upstream-failed')
    run.fault(`the upstream failed: ${event.code} ${String((event.cause as Error)?.stack)}`);
}

const [open, keyed, locked] = (await Promise.all(
  judges.map((judge, n) =>
    startGateway(
      run,
      configurationFor(judge.url, other.url),
      n === 0
        ? { BEARERD_ALLOWED_ORIGINS: 'http://localhost:3000' }
        : { BEARERD_CALLER_KEY: SECRETS.callerKey },
      { watch: blameFor502 },
    ),
  ),
)) as [FuzzedGateway, FuzzedGateway, FuzzedGateway];
await Promise.all([open, keyed, locked].map(ready));

const basic = (key: string) => `Basic ${Buffer.from(`me:${key}`).toString('base64')}`;
const KEY_LINES = [
  `X-Bearerd-Key: ${SECRETS.callerKey}`,
  `Proxy-Authorization: Bearer ${SECRETS.callerKey}`,
  `Authorization: Bearer ${SECRETS.callerKey}`,
  `authorization: ${basic(SECRETS.callerKey)}`,
  `X_API-Key: ${SECRETS.callerKey}`,
];
const WRONG_KEY_LINES = [
  `X-Bearerd-Key: ${SECRETS.callerKey}x`,
  `X-Bearerd-Key: ${SECRETS.callerKey.slice(0, -1)}`,
  `X-Bearerd-Key: ${SECRETS.callerKey.toUpperCase()}`,
  `Proxy-Authorization: Basic ${SECRETS.callerKey}`,
  `Proxy-Authorization: Bearer`,
  `Authorization: ${basic(`${SECRETS.callerKey}x`)}`,
  `X-Api-Key: ${SECRETS.callerKey.slice(1)}`,
  'X-Bearerd-Key:',
];

/** Where a case goes, and the lines that each of its requests has. A key takes no part in the mutation of bytes. */
function place(chance: Chance): { port: number; lines: string[]; mayLeak: boolean } {
  const where = chance.below(20);
  if (where === 0) return { port: open.adminPort, lines: [], mayLeak: false };
  if (where < 3) return { port: locked.port, lines: [], mayLeak: false };
  if (where < 5) return { port: keyed.port, lines: [chance.pick(KEY_LINES)], mayLeak: false };
  if (where < 6) return { port: locked.port, lines: [chance.pick(WRONG_KEY_LINES)], mayLeak: true };
  return { port: open.port, lines: [], mayLeak: false };
}

/** Sends piece by piece; now and then it leaves in the middle. Ends when the other side does, or when it gets quiet. */
function converse(
  pieces: Buffer[],
  port: number,
  leaves: boolean,
  take: (chunk: Buffer) => void,
): Promise<'end' | 'cut'> {
  return new Promise((resolve) => {
    let quiet: NodeJS.Timeout | undefined;
    let ended: 'end' | 'cut' = 'cut';
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const wait = () => {
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.destroy(), QUIET_MS);
    };
    const send = async () => {
      for (const [n, piece] of pieces.entries()) {
        if (socket.destroyed) return;
        if (piece.length > 0) socket.write(piece);
        if (n < pieces.length - 1) await new Promise(setImmediate);
      }
      if (leaves) socket.destroy();
      else wait();
    };
    socket
      .on('connect', () => void send())
      .on('data', (chunk: Buffer) => {
        take(chunk);
        if (quiet !== undefined) wait();
      })
      .on('end', () => {
        ended = 'end';
      })
      .on('error', () => {})
      .on('close', () => {
        clearTimeout(quiet);
        resolve(ended);
      });
  });
}

async function one(seed: number): Promise<void> {
  const chance = new Chance(seed);
  const { port, lines } = place(chance);
  const requests = requestsOf(chance, lines);
  const admin = port === open.adminPort;
  if (admin) for (const [n, bytes] of requests.entries()) requests[n] = forAdmin(bytes, chance);
  let all = Buffer.concat(requests);
  const cut = chance.odds(0.03);
  if (cut) all = all.subarray(0, chance.below(all.length));
  run.sent += requests.length;
  const reader = new StrictReader('response', () => {
    run.answered++;
  });
  let tail = Buffer.alloc(0);
  const ended = await converse(split(all, chance), port, chance.odds(0.02), (chunk) => {
    reader.push(chunk);
    tail = Buffer.concat([tail.subarray(-64), chunk]);
    if (leaks(tail)) run.fault(`a secret in an answer: ${tail.toString('latin1')}`, seed);
  });
  const text = () => JSON.stringify(all.toString('latin1').slice(0, 3000));
  if (ended === 'end') reader.end();
  if (reader.fault !== undefined) run.fault(`an answer that is no HTTP: ${reader.fault}\nto ${text()}`, seed);
  if (ended === 'end' && reader.unfinished && !reader.tunnel)
    run.fault(`half an answer, and an orderly end\nto ${text()}`, seed);
  if (ended === 'cut') run.note('connections that were ended by force');
  if (seed % ALIVE_EVERY === 0) await checkAlive(run, open);
}

/** The admin listener answers other paths, and has no way to tell this reader that it answers a HEAD. */
function forAdmin(bytes: Buffer, chance: Chance): Buffer {
  const text = bytes.toString('latin1').replaceAll('HEAD', 'GET');
  const path = chance.pick([
    '/healthz',
    '/readyz',
    '/metrics',
    '/status',
    '/requests',
    '/configuration',
    '/',
    '/renew',
    '/x',
  ]);
  return Buffer.from(chance.odds(0.8) ? text.replace(/ \/\S*/, ` ${path}`) : text, 'latin1');
}

await run.all(CONNECTIONS, one);
await Promise.all([checkAlive(run, open), checkAlive(run, keyed, SECRETS.callerKey)]);
run.note(
  'arrived upstream',
  judges.reduce((sum, judge) => sum + judge.arrivals, other.arrivals),
);
if (judges[2]!.arrivals > 0) run.fault('a request got past the caller key');
await Promise.all([open, keyed, locked].map(({ gateway }) => gateway.destroy()));
for (const judge of [...judges, other]) judge.close();
await sleep(50); // The log is written asynchronously.
run.report();
