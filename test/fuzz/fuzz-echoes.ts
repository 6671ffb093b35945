import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENCODINGS } from '../forward/scrub/encodings.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { ByteReader, readBody, readHead } from '../support/http-message.ts';
import { RawClient } from '../support/raw-client.ts';
import { grant } from '../support/raw-upstream.ts';
import { canary } from './canaries.ts';
import { Chance } from './chance.ts';
import { type Echo, echoOf } from './echo-grammar.ts';
import { Run, ready, startGateway } from './harness.ts';

// An upstream that echoes the token in each encoding, wherever it can, cut anywhere. The count is that of answers.
// Where no time passes, nothing of the token gets out, and all else is what it was. Where time passes between the pieces,
// what is held goes on, and what is left of the token behind it doesn't. Both clocks are ours: a busy machine changes
// neither.

const CLIENTS = 16;
/** One of so many answers is for the proxy in which time passes. */
const PAUSED = 8;
/** More than anything is held. */
const PAUSE_MS = 1_000;
const TOKEN = canary('/aZ9+x="&<>%41-_.\'q0');
const FORMS = Object.values(ENCODINGS).map((encode) => encode(TOKEN));

const run = new Run();
const echoes = new Map<number, Echo>();

const upstream = createServer({ noDelay: true }, async (socket) => {
  const reader = new ByteReader();
  socket.on('data', (chunk: Buffer) => reader.push(chunk)).on('end', () => reader.end());
  socket.on('error', () => {}).on('close', () => reader.end());
  for (;;) {
    const head = await readHead(reader);
    if (head === undefined) return;
    await readBody(reader, head, 'none');
    const seed = Number(/seed=(\d+)/.exec(head.startLine)?.[1]);
    const echo = echoes.get(seed);
    if (echo === undefined) {
      socket.write(grant(TOKEN));
      continue;
    }
    for (const piece of echo.pieces) {
      socket.write(piece);
      await passing.settle();
      if (isPaused(seed)) await passing.advance(PAUSE_MS);
    }
    if (echo.ends) socket.end();
  }
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const ENV = {
  BEARERD_BASE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  BEARERD_CLIENT_ID: 'sa-1',
  BEARERD_CLIENT_SECRET: canary('-secret'),
  BEARERD_SCRUB: 'true',
  BEARERD_RESPONSE_TIMEOUT: '1h',
  BEARERD_IDLE_TIMEOUT: '1h',
};
const passing = new FakeClock();
const whole = await startGateway(run, '', ENV, { clock: new FakeClock() });
const paused = await startGateway(run, '', ENV, { clock: passing });
await Promise.all([ready(whole), ready(paused)]);
const isPaused = (seed: number) => seed % PAUSED === 0;

async function one(seed: number): Promise<void> {
  const echo = echoOf(new Chance(seed), TOKEN);
  echoes.set(seed, echo);
  run.sent++;
  const client = await RawClient.to((isPaused(seed) ? paused : whole).port);
  const response = await client.send(`GET /x?seed=${seed} HTTP/1.1\r\nHost: localhost\r\n\r\n`).response();
  client.close();
  echoes.delete(seed);
  run.answered++;
  const got = {
    status: response.status,
    reason: response.reason,
    header: response.header('x-echo'),
    body: response.text,
  };
  const { status, reason, header, body } = echo;
  const expected = { status, reason, header, body };
  if (FORMS.some((form) => client.received.includes(form) || got.body.includes(form)))
    run.fault(`the token comes back: ${JSON.stringify(got)}`, seed);
  if (JSON.stringify(got) === JSON.stringify(expected)) return;
  if (isPaused(seed)) run.note('went on after a pause');
  else run.fault(`${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`, seed);
}

await run.all(CLIENTS, one);
await Promise.all([whole.gateway.destroy(), paused.gateway.destroy()]);
upstream.close();
await sleep(50); // The log is written asynchronously.
run.report();
