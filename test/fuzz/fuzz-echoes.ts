import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENCODINGS } from '../forward/scrub/encodings.ts';
import { ByteReader, readBody, readHead } from '../support/http-message.ts';
import { RawClient } from '../support/raw-client.ts';
import { grant } from '../support/raw-upstream.ts';
import { canary } from './canaries.ts';
import { Chance } from './chance.ts';
import { type Echo, echoOf } from './echo-grammar.ts';
import { Run, ready, startGateway } from './harness.ts';

// An upstream that echoes the token in each encoding, wherever it can, cut anywhere: nothing of it gets out, and all
// else is what it was. The count is that of answers.

const CLIENTS = 16;
const TOKEN = canary('/aZ9+x="&<>%41-_.\'q0');
const FORMS = Object.values(ENCODINGS).map((encode) => encode(TOKEN));

const run = new Run();
const echoes = new Map<string, Echo>();

const upstream = createServer({ noDelay: true }, async (socket) => {
  const reader = new ByteReader();
  socket.on('data', (chunk: Buffer) => reader.push(chunk)).on('end', () => reader.end());
  socket.on('error', () => {}).on('close', () => reader.end());
  for (;;) {
    const head = await readHead(reader);
    if (head === undefined) return;
    await readBody(reader, head, 'none');
    const echo = echoes.get(/seed=(\d+)/.exec(head.startLine)?.[1] ?? '');
    if (echo === undefined) {
      socket.write(grant(TOKEN));
      continue;
    }
    for (const piece of echo.pieces) {
      socket.write(piece);
      await new Promise(setImmediate);
    }
    if (echo.ends) socket.end();
  }
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const gateway = await startGateway(run, '', {
  BEARERD_BASE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  BEARERD_CLIENT_ID: 'sa-1',
  BEARERD_CLIENT_SECRET: canary('-secret'),
  BEARERD_SCRUB: 'true',
});
await ready(gateway);

async function one(seed: number): Promise<void> {
  const echo = echoOf(new Chance(seed), TOKEN);
  echoes.set(String(seed), echo);
  run.sent++;
  const client = await RawClient.to(gateway.port);
  const response = await client.send(`GET /x?seed=${seed} HTTP/1.1\r\nHost: localhost\r\n\r\n`).response();
  client.close();
  echoes.delete(String(seed));
  run.answered++;
  const got = {
    status: response.status,
    reason: response.reason,
    header: response.header('x-echo'),
    body: response.text,
  };
  const { status, reason, header, body } = echo;
  const expected = { status, reason, header, body };
  if (FORMS.some((form) => client.received.includes(form)))
    run.fault(`the token comes back: ${JSON.stringify(got)}`, seed);
  if (JSON.stringify(got) !== JSON.stringify(expected))
    run.fault(`${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`, seed);
}

await run.all(CLIENTS, one);
await gateway.gateway.destroy();
upstream.close();
await sleep(50); // The log is written asynchronously.
run.report();
