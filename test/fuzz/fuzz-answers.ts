import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { READS_UPGRADE_BODIES } from '../../src/node/upgrade-body.ts';
import { answerOf, type ScriptedAnswer } from './answer-grammar.ts';
import { leaks } from './canaries.ts';
import { Chance } from './chance.ts';
import { checkAlive, Run, ready, startGateway } from './harness.ts';
import { configurationFor, Judge } from './judge.ts';
import { play } from './play.ts';
import { type Message, StrictReader } from './strict-http.ts';

// Answers of an upstream: whatever it says, the client gets strict HTTP, a problem, or a connection that breaks; and
// a part never looks like the whole. The count is that of answers that were scripted.

const CLIENTS = 32;
const ALIVE_EVERY = 1000;
const MOST_TRIES = 6;
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS'];
const PATHS = ['/x', '/keys/x', '/open/x', '/rw/x', '/users/x'];

const run = new Run();
const scripts = new Map<string, ScriptedAnswer>();

function answer(request: Message, socket: Socket): Buffer | undefined {
  const seed = /[?&]seed=(\d+)/.exec(request.startLine)?.[1];
  const script = seed === undefined ? undefined : scripts.get(seed);
  if (script === undefined) return Buffer.from('HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok');
  void play(script, socket);
  return undefined;
}

const other = await Judge.listening({ onFault: run.fault, other: true });
const judge = await Judge.listening({ onFault: run.fault, answer });
const gateway = await startGateway(run, configurationFor(judge.url, other.url), {
  BEARERD_RESPONSE_TIMEOUT: '400ms',
  BEARERD_IDLE_TIMEOUT: '400ms',
  BEARERD_ALLOWED_ORIGINS: 'http://localhost:3000',
});
await ready(gateway);

/** One request; gives what came, and what the reader thinks of it. */
function ask(bytes: string, onMessage: (message: Message) => void) {
  const reader = new StrictReader('response', onMessage);
  return new Promise<{ reader: StrictReader; tail: string }>((resolve) => {
    let tail = '';
    const socket = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true });
    socket.write(bytes);
    socket
      .on('data', (chunk: Buffer) => {
        tail = tail.slice(-200_000) + chunk.toString('latin1');
        reader.push(chunk);
      })
      .on('end', () => reader.end())
      .on('error', () => {})
      .on('close', () => resolve({ reader, tail }));
  });
}

async function one(seed: number, tries = 1): Promise<void> {
  const chance = new Chance(seed);
  const method = chance.pick(METHODS);
  const script = answerOf(chance, method);
  scripts.set(String(seed), script);
  const lines = chance.pick([
    [],
    [],
    ['Origin: http://localhost:3000'],
    ['Upgrade: websocket', 'Connection: Upgrade'],
  ]);
  const head = [`${method} ${chance.pick(PATHS)}?seed=${seed} HTTP/1.1`, 'Host: localhost', ...lines];
  // Where the upgrade of a request with a body is ignored, its connection would stay open.
  if (lines.length < 2 || (method === 'POST' && !READS_UPGRADE_BODIES)) head.push('Connection: close');
  if (method === 'POST') head.push('Content-Length: 4');
  run.sent++;
  const messages: Message[] = [];
  const request = `${head.join('\r\n')}\r\n\r\n${method === 'POST' ? 'body' : ''}`;
  const { reader, tail } = await ask(request, (message) => messages.push(message));
  scripts.delete(String(seed));
  run.answered++;
  const said = () =>
    JSON.stringify({
      request,
      script: Buffer.concat(script.pieces).toString('latin1').slice(0, 2000),
      ending: script.ending,
      got: tail.slice(0, 2000),
    });
  if (leaks(tail)) run.fault(`a secret in an answer: ${said()}`, seed);
  const toHead = method === 'HEAD' && messages.length === 0;
  if (reader.fault !== undefined && !toHead)
    run.fault(`an answer that is no HTTP: ${reader.fault} ${said()}`, seed);
  if (messages.length > 1 && method !== 'HEAD') run.fault(`more than one answer: ${said()}`, seed);
  const [first] = messages;
  const own = first?.head.includes('application/problem+json\r\n') === true;
  const bodyless = / (?:204|205|304) /.test(first?.startLine ?? '');
  if (
    first !== undefined &&
    script.body !== undefined &&
    !own &&
    !bodyless &&
    !first.body.equals(script.body)
  )
    run.fault(`another body than was sent, as the whole: ${said()}`, seed);
  // It met a connection that the answer before it had ended: its fate is unknown (RFC 9110 §9.2.2).
  const stale = own && method === 'POST' && tail.includes('error=connection_terminated');
  if (script.whole && (first === undefined || own) && !stale) {
    // An answer before it, on the same connection, may have had more bytes than it said: they come in place of this
    // one, it can't be known, and nothing that the upstream has seen is sent twice. By itself it gets through.
    if (tries === 1 && tail.includes('error=http_protocol_error')) return one(seed, 2);
    // A machine that stands still for as long as the upstream may take.
    if (tries < MOST_TRIES && tail.includes('error=http_response_timeout')) return one(seed, tries + 1);
    run.fault(`a good answer is lost: ${said()}`, seed);
  }
  if (seed % ALIVE_EVERY === 0) await checkAlive(run, gateway);
}

await run.all(CLIENTS, (seed) => one(seed));
await checkAlive(run, gateway);
await gateway.gateway.destroy();
judge.close();
other.close();
await sleep(50); // The log is written asynchronously.
run.report();
