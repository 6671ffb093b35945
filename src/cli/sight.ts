import { connect, type Socket } from 'node:net';
import type { ListenAddress } from '../config/config.ts';
import { formatAddress } from '../config/values/addresses.ts';
import type { Readiness } from '../observe/status.ts';

/** What the admin listener says: why the proxy isn't ready; undefined if it is. */
export type Sight = readonly string[];

const LIMIT_MS = 2_000;
const LONGEST_ANSWER = 1 << 20;
/** No listener; no such socket file; and, of `localhost`, an address family that this machine lacks. */
const NOT_LISTENING = new Set(['ECONNREFUSED', 'ENOENT', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);
const ANSWER = /^HTTP\/1\.\d \d{3}.*?\r\n\r\n/s;

// `healthcheck` is started every few seconds: it asks by a bare socket, since a client for HTTP takes longer to load than
// all else here to run, and what says why a proxy isn't ready is loaded when it isn't.

/** Looks at the admin listener at an address, in two seconds at most. Never rejects. */
export async function look(address: ListenAddress): Promise<Sight> {
  if (address.kind === 'tcp' && address.host === 'localhost') return lookAtBoth(address.port);
  return (await seen(address)) ?? [`nothing listens at ${formatAddress(address)}`];
}

/** What `localhost` is to the proxy: to ask the system for it would load more than all else here. */
async function lookAtBoth(port: number): Promise<Sight> {
  for (const host of ['127.0.0.1', '::1']) {
    const sight = await seen({ kind: 'tcp', host, port });
    if (sight !== undefined) return sight;
  }
  return [`nothing listens at localhost:${port}`];
}

/** Undefined where nothing listens. */
async function seen(address: ListenAddress): Promise<Sight | undefined> {
  try {
    const readiness = await get(address, '/readyz');
    if (!isReadiness(readiness)) return [`what listens at ${formatAddress(address)} is no bearerd`];
    if (readiness.ready) return [];
    const { whyUnready } = await import('./readiness-words.ts');
    // It says more than a probe may know, and nothing at an address that is not loopback.
    return whyUnready(readiness, await get(address, '/status').catch(() => undefined));
  } catch (error) {
    return unseen(address, error);
  }
}

/** Whether an answer to `GET /readyz` is one of ours. */
function isReadiness(answer: unknown): answer is Readiness {
  const { ready, credentials } = (answer ?? {}) as Partial<Record<keyof Readiness, unknown>>;
  return typeof ready === 'boolean' && typeof credentials === 'object' && credentials !== null;
}

/** JSON; undefined for what is none. Another server at that address may answer 200, too. */
async function get(address: ListenAddress, path: string): Promise<unknown> {
  const { body } = await answerTo(address, path);
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Asks the admin listener at an address. Rejects where there is no answer by HTTP, with a code. */
export async function answerTo(
  address: ListenAddress,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const answer = await exchange(connectTo(address), path);
  const [head] = ANSWER.exec(answer) ?? [];
  if (head === undefined) throw coded(answer === '' ? 'UND_ERR_SOCKET' : 'HTTPParserError');
  return {
    status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)),
    body: answer.slice(head.length),
  };
}

/** By HTTP/1.0 an answer is not chunked, and ends with its connection. */
function exchange(socket: Socket, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let answer = '';
  const late = () => reject(coded(socket.connecting ? 'UND_ERR_CONNECT_TIMEOUT' : 'UND_ERR_HEADERS_TIMEOUT'));
  const timer = setTimeout(late, LIMIT_MS);
  socket
    .setEncoding('utf8')
    .on('data', (text: string) => {
      answer += text;
      if (answer.length > LONGEST_ANSWER) reject(coded('UND_ERR_RES_EXCEEDED_MAX_SIZE'));
    })
    .on('error', reject)
    .on('end', () => resolve(answer))
    .on('close', () => resolve(answer))
    .write(`GET ${path} HTTP/1.0\r\nHost: localhost\r\n\r\n`);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

function connectTo(address: ListenAddress): Socket {
  if (address.kind === 'unix') return connect({ path: address.path });
  const { host, port } = address;
  // The addresses that mean "all of them" can't be connected to everywhere.
  return connect({ host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port });
}

function coded(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

async function unseen(address: ListenAddress, error: unknown): Promise<Sight | undefined> {
  const { codeOf, failureOfCode } = await import('../base/failures/kind.ts');
  const code = codeOf(error);
  if (NOT_LISTENING.has(code)) return undefined;
  const at = formatAddress(address);
  if (code === 'EACCES') return [`this user may not connect to ${at}`];
  const { CONNECTION_FAILURES } = await import('../base/failures/words.ts');
  return [`the admin listener at ${at} ${CONNECTION_FAILURES[failureOfCode(code)].what} (${code})`];
}
