import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { readTls } from './h2-upstream.ts';

export interface ProxyOptions {
  /** To CONNECT; nothing for no word. What is no 2xx opens no tunnel. */
  readonly answer?: string | readonly string[];
  /** The certificate with which it speaks TLS itself. */
  readonly certificate?: string;
}

export interface ConnectProxy {
  /** What CONNECT named, and the head that it came with. */
  readonly tunnels: string[];
  readonly heads: http.IncomingHttpHeaders[];
  /** All that it saw in clear. */
  readonly clear: () => string;
  readonly host: string;
  readonly port: number;
}

export const refusal = (status: number) => `HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`;

/** An outbound proxy that sends every tunnel to one port of 127.0.0.1. */
export async function connectProxy(t: Test, port: number, options: ProxyOptions = {}): Promise<ConnectProxy> {
  const { answer = 'HTTP/1.1 200 OK\r\n\r\n', certificate } = options;
  const pieces = typeof answer === 'string' ? [answer] : answer;
  const tunnels: string[] = [];
  const heads: http.IncomingHttpHeaders[] = [];
  const sockets = new Set<Socket>();
  let clear = '';
  const proxy =
    certificate === undefined
      ? http.createServer()
      : https.createServer({ cert: readTls(`${certificate}.pem`), key: readTls(`${certificate}.key`) });
  proxy.on('request', (request, response) => {
    clear += `${request.method} ${request.url}`;
    response.writeHead(400).end();
  });
  proxy.on('connect', async (request: http.IncomingMessage, client: Socket) => {
    tunnels.push(request.url!);
    heads.push(request.headers);
    sockets.add(client.on('error', () => {}));
    if (!/^HTTP\/1\.\d 2/m.test(pieces.join(''))) return void client.end(pieces.join(''));
    const upstream = connect(port, '127.0.0.1');
    sockets.add(upstream.on('error', () => client.destroy()));
    for (const piece of pieces) {
      client.write(piece);
      await new Promise((resolve) => setTimeout(resolve, pieces.length > 1 ? 5 : 0));
    }
    client.on('data', (chunk: Buffer) => {
      clear += chunk.toString('latin1');
    });
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port: own } = proxy.address() as AddressInfo;
  return { tunnels, heads, clear: () => clear, host: `127.0.0.1:${own}`, port: own };
}
