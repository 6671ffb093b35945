import { connect, type Socket } from 'node:net';
import { boundHosts, formatAddress, type ListenAddress } from '../config/values/addresses.ts';
import type { Readiness } from '../observe/status.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** Why there is no answer, in words, and of which kind that is. */
export interface Unanswered {
  readonly reason: string;
  /** `silent`: connections are accepted, and nothing comes. */
  readonly kind: 'absent' | 'silent' | 'other';
}

const LIMIT_MS = 2_000;
const LONGEST_ANSWER = 1 << 20;
/** No listener; no such socket file; and, of `localhost`, an address family that this machine lacks. */
const NOT_LISTENING = new Set(['ECONNREFUSED', 'ENOENT', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);
const ANSWER = /^HTTP\/1\.\d \d{3}.*?\r\n\r\n/s;

// `healthcheck` is started every few seconds: it asks by a bare socket, since a client for HTTP takes longer to load than
// all else here to run, and what says why a proxy isn't ready is loaded when it isn't.

/** Asks the admin listener why the proxy isn't ready; empty if it is. Never rejects. */
export async function reasonsUnready(address: ListenAddress): Promise<readonly string[]> {
  const answer = await askAdmin(address, '/readyz');
  if ('reason' in answer) return [answer.reason];
  const readiness = jsonIn(answer);
  if (!isReadiness(readiness)) return [notBearerd(address)];
  if (readiness.ready) return [];
  const { whyUnready } = await import('../observe/why/readiness-words.ts');
  // It has the failure in words; at an address that is not loopback it asks for the caller key.
  const status = await askAdmin(address, '/status');
  return whyUnready(readiness, 'reason' in status ? undefined : jsonIn(status));
}

/**
 * Sends a GET to the admin listener, and waits two seconds at most. Never rejects.
 *
 * @returns the answer, or why there is none
 */
export async function askAdmin(address: ListenAddress, path: string): Promise<AdminAnswer | Unanswered> {
  // Where the proxy binds it: to ask the system for `localhost` would load more than all else here.
  const addresses =
    address.kind === 'tcp' ? boundHosts(address.host).map((host) => ({ ...address, host })) : [address];
  for (const each of addresses) {
    try {
      return parsed(await exchange(connectTo(each), path));
    } catch (error) {
      const { codeOf } = await import('../base/failures/kind.ts');
      const code = codeOf(error);
      if (!NOT_LISTENING.has(code)) return unanswered(formatAddress(each), code);
    }
  }
  const reason = `nothing listens at ${formatAddress(address)}. Start bearerd, or ${GIVE_ADDRESS}`;
  return { reason, kind: 'absent' };
}

/** What to say if another server has answered. */
export function notBearerd(address: ListenAddress): string {
  return `what listens at ${formatAddress(address)} is not bearerd: ${GIVE_ADDRESS}`;
}

const GIVE_ADDRESS = 'give the address of its admin listener with --admin-listen';

/** Whether an answer to `GET /readyz` is one of ours. */
export function isReadiness(answer: unknown): answer is Readiness {
  const { ready, credentials } = (answer ?? {}) as Partial<Record<keyof Readiness, unknown>>;
  return typeof ready === 'boolean' && typeof credentials === 'object' && credentials !== null;
}

/** Undefined for what is no JSON: another server at that address may answer 200, too. */
export function jsonIn({ body }: AdminAnswer): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function parsed(answer: string): AdminAnswer {
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

async function unanswered(at: string, code: string): Promise<Unanswered> {
  if (code === 'EACCES') {
    const reason = `this user may not connect to ${at}: run this as the user that bearerd runs as`;
    return { reason, kind: 'other' };
  }
  const [{ failureOfCode }, { CONNECTION_FAILURES }] = await Promise.all([
    import('../base/failures/kind.ts'),
    import('../base/failures/words.ts'),
  ]);
  const failure = failureOfCode(code);
  const reason = `the admin listener at ${at} ${CONNECTION_FAILURES[failure].what} (${code}). See whether bearerd runs there, or ${GIVE_ADDRESS}`;
  return { reason, kind: failure === 'answer-timeout' ? 'silent' : 'other' };
}
