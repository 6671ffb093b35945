import type { Socket } from 'node:net';
import { ConnectTimeoutError, OutboundProxyError } from '../base/errors.ts';
import { codeOf, failureOfCode } from '../base/failures/kind.ts';
import { CONNECTION_FAILURES } from '../base/failures/words.ts';
import { USER_AGENT } from '../base/version.ts';
import { onAbort } from './on-abort.ts';

/** More than a proxy sends as a head. An error page behind the head is not read. */
const MAX_HEAD_BYTES = 64 * 1024;
const HEAD_END = '\r\n\r\n';
const VERSION = 'HTTP/1.';
const CLOSED = { code: 'ECONNRESET' };

/**
 * Asks a proxy for a tunnel by CONNECT (RFC 9110 §9.3.6). Of its response only the status counts: a 2xx has no body,
 * whatever its header says, and 1xx responses are skipped. If there is no tunnel, the connection is destroyed.
 *
 * @param socket a connection to the proxy, which becomes the tunnel
 * @param authority host and port of the tunnel's other end
 */
export async function openTunnel(
  socket: Socket,
  proxy: URL,
  authority: string,
  signal: AbortSignal,
): Promise<void> {
  socket.write(
    `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\nuser-agent: ${USER_AGENT}\r\n${credentialsFor(proxy)}\r\n`,
  );
  try {
    const status = await finalStatus(socket, proxy, signal);
    if (status === undefined)
      throw new OutboundProxyError(proxy.host, 'answers with something that is not HTTP');
    if (status < 200 || status > 299) throw refusal(proxy, status);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Reads up to the end of the response's head. What follows stays in the socket. */
function finalStatus(socket: Socket, proxy: URL, signal: AbortSignal): Promise<number | undefined> {
  let text = '';
  return new Promise((resolve, reject) => {
    const read = () => {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        text += chunk.toString('latin1');
        const answer = answerIn(text);
        if (answer === 'unfinished') continue;
        stop();
        if (answer.rest !== '') socket.unshift(Buffer.from(answer.rest, 'latin1'));
        return resolve(answer.status);
      }
    };
    const gone = () =>
      fail(new OutboundProxyError(proxy.host, 'closes the connection without an answer', CLOSED));
    const fail = (reason: unknown) => {
      stop();
      reject(reason);
    };
    const stop = () => socket.off('readable', read).off('end', gone).off('close', gone).off('error', fail);
    socket.on('readable', read).on('end', gone).on('close', gone).on('error', fail);
    onAbort(signal, fail);
  });
}

/** Why there is no tunnel, with the proxy's name: the proxy is what the operator has to look at, not the upstream. */
export function outboundProxyError(proxy: URL, cause: unknown): OutboundProxyError {
  if (cause instanceof OutboundProxyError) return cause;
  const { code } = cause as { code?: unknown };
  const known = typeof code === 'string' ? code : undefined;
  const late = cause instanceof ConnectTimeoutError || codeOf(cause) === 'TimeoutError';
  const { what: words } = CONNECTION_FAILURES[failureOfCode(codeOf(cause))];
  const what = late ? 'did not open a tunnel in time' : `${words} (${codeOf(cause)})`;
  return new OutboundProxyError(proxy.host, what, { code: known, cause });
}

interface Answer {
  /** Undefined if the answer is not HTTP/1. */
  readonly status: number | undefined;
  readonly rest: string;
}

function answerIn(text: string): Answer | 'unfinished' {
  if (!text.startsWith(VERSION.slice(0, text.length))) return { status: undefined, rest: '' };
  const end = text.indexOf(HEAD_END);
  if (end === -1) return text.length > MAX_HEAD_BYTES ? { status: undefined, rest: '' } : 'unfinished';
  const rest = text.slice(end + HEAD_END.length);
  const status = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(text)?.[1];
  const isInterim = status?.startsWith('1') === true && status !== '101';
  return isInterim ? answerIn(rest) : { status: status === undefined ? undefined : Number(status), rest };
}

/** What an operator can do about it; never the proxy's own text. */
function refusal(proxy: URL, status: number): OutboundProxyError {
  return new OutboundProxyError(
    proxy.host,
    `${whyRefused(status, proxy.username !== '')} (status ${status})`,
    {
      status,
    },
  );
}

function whyRefused(status: number, hasUser: boolean): string {
  switch (status) {
    case 407:
      return hasUser
        ? 'refuses the user name and password of its URL'
        : 'asks for a user name and a password, which its URL does not hold';
    case 401:
    case 403:
      return 'does not allow a connection to this host';
    case 404:
    case 502:
    case 503:
      return "can't reach the host";
    case 504:
      return 'could not connect to the host in time';
    case 400:
    case 405:
    case 501:
      return 'does not support CONNECT: it may not be a forward proxy';
    default:
      return 'does not open a tunnel';
  }
}

function credentialsFor({ username, password }: URL): string {
  if (username === '' && password === '') return '';
  const userInfo = `${decoded(username)}:${decoded(password)}`;
  return `proxy-authorization: Basic ${Buffer.from(userInfo).toString('base64')}\r\n`;
}

/** Text with an invalid escape is used as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
