/**
 * HTTP/1.1 messages read off the wire by a hand-written parser, so that what the tests see depends on none of the
 * libraries that they test. It takes what a lenient peer would take, and says how each body ended.
 */

/** Bytes as they arrive, to be taken in order. */
export class ByteReader {
  #chunks: Buffer[] = [];
  #size = 0;
  #ended = false;
  #wake: () => void = () => {};

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return true;
  }

  #cut(length: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks = all.length === length ? [] : [all.subarray(length)];
    this.#size = all.length - length;
    return all.subarray(0, length);
  }

  /** Up to and with the marker; undefined when the bytes end before it. */
  async through(marker: string): Promise<Buffer | undefined> {
    for (let known = -1; ; ) {
      if (this.#size !== known) {
        known = this.#size;
        if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
        const at = this.#chunks[0]?.indexOf(marker) ?? -1;
        if (at !== -1) return this.#cut(at + marker.length);
      }
      if (!(await this.#more())) return undefined;
    }
  }

  /** So many bytes, or all that there are when the bytes end before that. */
  async exactly(length: number): Promise<Buffer> {
    while (this.#size < length && (await this.#more()));
    return this.#cut(Math.min(length, this.#size));
  }

  /** Everything, once the bytes have ended. */
  async rest(): Promise<Buffer> {
    while (await this.#more());
    return this.#cut(this.#size);
  }
}

export interface MessageHead {
  readonly startLine: string;
  /** Names and values in order, each character a byte. */
  readonly lines: readonly (readonly [string, string])[];
  /** The whole of it as text, each character a byte. */
  readonly head: string;
}

export interface HttpMessage extends MessageHead {
  readonly body: Buffer;
  /** The body ended as its framing said that it would. */
  readonly whole: boolean;
  readonly framing: 'none' | 'length' | 'chunked' | 'close';
  readonly trailers: string;
}

export async function readHead(reader: ByteReader): Promise<MessageHead | undefined> {
  const bytes = await reader.through('\r\n\r\n');
  if (bytes === undefined) return undefined;
  const head = bytes.toString('latin1');
  const [startLine = '', ...rest] = head.slice(0, -4).split('\r\n');
  const lines = rest.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  return { startLine, lines, head };
}

/** All values of a header, in order. */
export function values({ lines }: MessageHead, name: string): string[] {
  return lines.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** The body that belongs to a head. @param unframed what a message without length or chunks has. */
export async function readBody(
  reader: ByteReader,
  head: MessageHead,
  unframed: 'none' | 'close',
): Promise<HttpMessage> {
  if (values(head, 'transfer-encoding').at(-1)?.toLowerCase() === 'chunked') {
    return { ...head, ...(await readChunks(reader)), framing: 'chunked' };
  }
  const length = values(head, 'content-length')[0];
  if (length !== undefined) {
    const body = await reader.exactly(Number(length));
    return { ...head, body, whole: body.length === Number(length), framing: 'length', trailers: '' };
  }
  const body = unframed === 'close' ? await reader.rest() : Buffer.alloc(0);
  return { ...head, body, whole: true, framing: unframed, trailers: '' };
}

async function readChunks(reader: ByteReader): Promise<{ body: Buffer; whole: boolean; trailers: string }> {
  const chunks: Buffer[] = [];
  const broken = () => ({ body: Buffer.concat(chunks), whole: false, trailers: '' });
  for (;;) {
    const line = await reader.through('\r\n');
    if (line === undefined) return broken();
    const size = Number.parseInt(line.toString('latin1'), 16);
    if (Number.isNaN(size)) return broken();
    if (size === 0) break;
    const chunk = await reader.exactly(size);
    chunks.push(chunk);
    if (chunk.length < size || (await reader.exactly(2)).toString() !== '\r\n') return broken();
  }
  let trailers = '';
  for (;;) {
    const line = (await reader.through('\r\n'))?.toString('latin1');
    if (line === undefined) return broken();
    if (line === '\r\n') return { body: Buffer.concat(chunks), whole: true, trailers };
    trailers += line;
  }
}
