import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { request } from 'undici';
import { within } from '../support/raw-client.ts';
import { Issuer } from './issuer.ts';
import { Program } from './program.ts';
import { report } from './report.ts';
import { serve } from './upstream.ts';

// npm run streams -- [GIB]: large bodies, many of them, and many connections, in about two minutes.

const MIB = 1024 ** 2;
const [gib = 4] = process.argv.slice(2).map(Number);
const LONG_BYTES = gib * 1024 * MIB;
const WARM_UP_BYTES = 64 * MIB;
const MANY = 200;
const EACH_BYTES = 8 * MIB;
const IDLE = 5_000;
const PATIENCE_MS = 600_000;

const block = randomBytes(MIB);

/** This many bytes, in which no two blocks are equal. */
function* blocks(bytes: number): Generator<Buffer> {
  for (let n = 0; n < bytes / MIB; n++) {
    const piece = Buffer.from(block);
    piece.writeUInt32BE(n);
    yield piece;
  }
}

const digests = new Map<number, string>();
function digestOf(bytes: number): string {
  const known = digests.get(bytes);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for (const piece of blocks(bytes)) hash.update(piece);
  const digest = hash.digest('hex');
  digests.set(bytes, digest);
  return digest;
}

async function digestIn(body: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of body) hash.update(piece);
  return hash.digest('hex');
}

/** GET /BYTES answers with this many bytes; a POST is answered with the hash of its body. */
function answer(incoming: IncomingMessage, response: ServerResponse): void {
  const bytes = Number(incoming.url!.slice(1));
  const body = incoming.method === 'GET' ? blocks(bytes) : answerDigest(incoming);
  if (incoming.method === 'GET') response.setHeader('content-length', bytes);
  pipeline(Readable.from(body), response).catch((error) => process.stderr.write(`upstream: ${error}\n`));
}

async function* answerDigest(incoming: IncomingMessage): AsyncGenerator<string> {
  yield await digestIn(incoming);
}

const issuer = new Issuer();
issuer.lifetimeMs = 3_600_000;
const url = await serve(issuer, answer);

async function down(program: Program, bytes: number): Promise<boolean> {
  const { body } = await request(`${program.url}/${bytes}`, { bodyTimeout: PATIENCE_MS });
  return (await digestIn(body)) === digestOf(bytes);
}

async function up(program: Program, bytes: number): Promise<boolean> {
  const { body } = await request(`${program.url}/up`, {
    method: 'POST',
    headers: { 'content-length': String(bytes) },
    body: Readable.from(blocks(bytes)),
    headersTimeout: PATIENCE_MS,
  });
  return (await body.text()) === digestOf(bytes);
}

type Way = (program: Program, bytes: number) => Promise<boolean>;

/** One long body: the memory that it takes beyond a short one. */
async function long(way: Way) {
  const program = await Program.started(url);
  await way(program, WARM_UP_BYTES);
  const before = program.residentMib;
  let equal = false;
  const highest = await program.highestMib(
    way(program, LONG_BYTES).then((same) => {
      equal = same;
    }),
  );
  const internalErrors = await program.internalErrors();
  program.stop();
  return {
    gib,
    equal,
    growthMib: Math.round(highest - before),
    internalErrors,
  };
}

async function many(way: Way) {
  const program = await Program.started(url);
  let equal = 0;
  const all = Promise.all(
    Array.from({ length: MANY }, async () => {
      if (await way(program, EACH_BYTES)) equal++;
    }),
  );
  const highestMib = Math.round(await program.highestMib(all));
  program.stop();
  return { bodies: MANY, equal, highestMib };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket)).once('error', reject);
  });
}

/** The allowed number of connections with one request each, and then one more. */
async function idle() {
  const program = await Program.started(url, { BEARERD_MAX_CONNECTIONS: String(IDLE) });
  const sockets: Socket[] = [];
  while (sockets.length < IDLE) {
    const some = await Promise.all(Array.from({ length: 100 }, () => open(program.port)));
    for (const socket of some) await ask(socket);
    sockets.push(...some);
  }
  const residentMib = Math.round(program.residentMib);
  const beginMs = performance.now();
  const oneMore = (await ask(await open(program.port))).slice(0, 'HTTP/1.1 503'.length);
  const answeredInMs = Math.round(performance.now() - beginMs);
  for (const socket of sockets) socket.destroy();
  program.stop();
  return { connections: IDLE, residentMib, oneMore, answeredInMs };
}

function ask(socket: Socket): Promise<string> {
  const answered = new Promise<string>((resolve) => {
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1')));
  });
  socket.write('GET /0 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return within(60_000, answered, () => 'a connection gets no answer');
}

const longDown = await long(down);
const longUp = await long(up);
const manyDown = await many(down);
const manyUp = await many(up);
const connections = await idle();
report(
  { longDown, longUp, manyDown, manyUp, connections },
  {
    'a long body came as another': longDown.equal && longUp.equal,
    'a long body took more than 32 MiB': Math.max(longDown.growthMib, longUp.growthMib) <= 32,
    'one of many bodies came as another': manyDown.equal + manyUp.equal === 2 * MANY,
    'many bodies took more than 256 MiB': Math.max(manyDown.highestMib, manyUp.highestMib) <= 256,
    'idle connections took more than 256 MiB': connections.residentMib <= 256,
    'one connection more got no 503': connections.oneMore === 'HTTP/1.1 503',
    'an internal error was counted': longDown.internalErrors + longUp.internalErrors === 0,
  },
);
process.exit();
