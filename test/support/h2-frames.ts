import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { ByteReader, readBody, readHead } from './http-message.ts';
import { SESSION_PATH } from './raw-upstream.ts';

// HTTP/2 by hand (RFC 9113 §4), for what a well-behaved library would never send.

const tlsFile = (name: string) => readFileSync(fileURLToPath(new URL(`tls/${name}`, import.meta.url)));
const PREFACE_BYTES = 24;

export const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7 } as const;
export const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

export class FrameConnection {
  readonly socket: TLSSocket;
  readonly frames: Frame[] = [];

  constructor(socket: TLSSocket) {
    this.socket = socket;
  }

  send(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): this {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(id, 5);
    if (!this.socket.writableEnded) this.socket.write(Buffer.concat([head, payload]));
    return this;
  }

  settings(...pairs: [id: number, value: number][]): this {
    const payload = Buffer.alloc(pairs.length * 6);
    pairs.forEach(([id, value], n) => {
      payload.writeUInt16BE(id, n * 6);
      payload.writeUInt32BE(value, n * 6 + 2);
    });
    return this.send(TYPE.settings, 0, 0, payload);
  }

  headers(id: number, lines: readonly (readonly [string, string])[], flags = 0): this {
    const fields = lines.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]);
    return this.send(TYPE.headers, END_HEADERS | flags, id, Buffer.concat(fields));
  }

  data(id: number, body: string, flags = 0): this {
    return this.send(TYPE.data, flags, id, Buffer.from(body, 'latin1'));
  }

  /** A frame for each byte. */
  tinyData(id: number, body: string, flags = 0): this {
    const frames = Buffer.alloc(body.length * 10);
    for (let n = 0; n < body.length; n++) {
      frames[n * 10 + 2] = 1;
      frames[n * 10 + 4] = n === body.length - 1 ? flags : 0;
      frames.writeUInt32BE(id, n * 10 + 5);
      frames.write(body[n]!, n * 10 + 9, 'latin1');
    }
    this.socket.write(frames);
    return this;
  }

  goAway(lastStreamId: number, code: number): this {
    const payload = Buffer.alloc(8);
    payload.writeUInt32BE(lastStreamId);
    payload.writeUInt32BE(code, 4);
    return this.send(TYPE.goAway, 0, 0, payload);
  }

  reset(id: number, code: number): this {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(code);
    return this.send(TYPE.reset, 0, id, payload);
  }
}

/** RFC 7541 §5.2, without Huffman. */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const prefix = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>= 7) prefix.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...prefix, rest]), bytes]);
}

/** A TLS server that chooses HTTP/2 and then does what the script says; HTTP/1.1 where only that is offered. */
export class FrameUpstream {
  onConnection: (connection: FrameConnection) => unknown = (connection) => connection.settings();
  /** With each frame that opens a stream. */
  onRequest: (connection: FrameConnection, id: number, frame: Frame) => unknown = () => {};
  /** SETTINGS and PINGs are answered. */
  alive = true;
  readonly connections: FrameConnection[] = [];
  /** Request lines that came in HTTP/1.1, but for logins; each got the answer "by HTTP/1.1". */
  readonly http1: string[] = [];
  readonly #sockets = new Set<TLSSocket>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(
      { cert: tlsFile('server.pem'), key: tlsFile('server.key'), ALPNProtocols: ['h2', 'http/1.1'] },
      (socket) => this.#accept(socket),
    );
  }

  static async startedFor(t: Test): Promise<FrameUpstream> {
    const upstream = new FrameUpstream();
    await new Promise<void>((resolve) => upstream.#server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      upstream.#server.close();
      for (const socket of upstream.#sockets) socket.destroy();
    });
    return upstream;
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  #accept(socket: TLSSocket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    if (socket.alpnProtocol === 'http/1.1') this.#serveHttp1(socket);
    else this.#serveHttp2(socket);
  }

  #serveHttp1(socket: TLSSocket): void {
    const reader = new ByteReader();
    socket.on('data', (chunk: Buffer) => reader.push(chunk)).on('close', () => reader.end());
    const serve = async () => {
      for (;;) {
        const head = await readHead(reader);
        if (head === undefined) return;
        await readBody(reader, head, 'none');
        if (!head.startLine.includes(SESSION_PATH)) this.http1.push(head.startLine);
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nby HTTP/1.1');
      }
    };
    void serve();
  }

  #serveHttp2(socket: TLSSocket): void {
    const connection = new FrameConnection(socket);
    this.connections.push(connection);
    let bytes = Buffer.alloc(0);
    let begun = false;
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (!begun && bytes.length >= PREFACE_BYTES) {
        begun = true;
        bytes = bytes.subarray(PREFACE_BYTES);
        this.onConnection(connection);
      }
      while (begun && bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        const end = 9 + bytes.readUIntBE(0, 3);
        const frame = {
          type: bytes[3]!,
          flags: bytes[4]!,
          id: bytes.readUInt32BE(5),
          payload: bytes.subarray(9, end),
        };
        bytes = bytes.subarray(end);
        this.#take(connection, frame);
      }
    });
  }

  #take(connection: FrameConnection, frame: Frame): void {
    connection.frames.push(frame);
    if (!this.alive) return;
    const isAck = (frame.flags & ACK) !== 0;
    if (frame.type === TYPE.settings && !isAck) connection.send(TYPE.settings, ACK, 0);
    else if (frame.type === TYPE.ping && !isAck) connection.send(TYPE.ping, ACK, 0, frame.payload);
    else if (frame.type === TYPE.headers) this.onRequest(connection, frame.id, frame);
  }
}
