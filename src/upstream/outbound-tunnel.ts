import type { Socket } from 'node:net';
import { Client, errors } from 'undici';
import type { Connector } from './connector.ts';

/** The outbound proxy did not open the tunnel. */
export class OutboundProxyError extends Error {
  readonly code = 'ERR_OUTBOUND_PROXY';
  readonly status: number;

  constructor(status: number) {
    super(`the outbound proxy answers CONNECT with status ${status}`);
    this.status = status;
  }
}

/**
 * RFC 9110 §9.3.6: a tunnel by CONNECT, then TLS to the origin inside it: the proxy never sees a credential.
 *
 * @param direct opens the connection to the proxy
 * @param inside starts TLS in the tunnel
 * @param timeoutMs for all of it together, 0 for no limit
 */
export function tunnelThrough(
  proxy: URL,
  direct: Connector,
  inside: Connector,
  timeoutMs: number,
): Connector {
  const credentials = proxyAuthorization(proxy);
  return (options, callback) => {
    const port = options.port !== '' ? options.port : options.protocol === 'https:' ? '443' : '80';
    const host = options.hostname.includes(':') ? `[${options.hostname}]` : options.hostname;
    const authority = `${host}:${port}`;
    const client = new Client(proxy.origin, { connect: direct, headersTimeout: 0 });
    let tunnel: Socket | undefined;
    let over = false;
    const finish = (error: Error | null, socket: Socket | null) => {
      if (over) {
        socket?.on('error', () => {}).destroy();
        return;
      }
      over = true;
      clearTimeout(timer);
      if (error !== null) tunnel?.on('error', () => {}).destroy();
      client.destroy().catch(() => {});
      if (error === null && socket !== null) callback(null, socket);
      else callback(error ?? new Error('no connection'), null);
    };
    const late = () => finish(new errors.ConnectTimeoutError('the tunnel was not there in time'), null);
    const timer = timeoutMs === 0 ? undefined : setTimeout(late, timeoutMs);
    client.connect({ path: authority, headers: { ...credentials, host: authority } }).then(
      ({ socket, statusCode }) => {
        tunnel = socket as Socket;
        if (statusCode < 200 || statusCode > 299) finish(new OutboundProxyError(statusCode), null);
        else if (options.protocol !== 'https:') finish(null, tunnel);
        else inside({ ...options, httpSocket: tunnel }, (error, secure) => finish(error, secure));
      },
      (error: Error) => finish(forGood(error), null),
    );
  };
}

function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const userInfo = `${decoded(username)}:${decoded(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(userInfo).toString('base64')}` };
}

/** undici takes its own socket error, told by whoever opens a connection, for leave to try again: at once, and for ever. */
function forGood(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'UND_ERR_SOCKET' && code !== 'UND_ERR_INFO') return error;
  return Object.assign(new Error('the outbound proxy closed the connection', { cause: error }), {
    code: 'ECONNRESET',
  });
}

/** What is no valid escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
