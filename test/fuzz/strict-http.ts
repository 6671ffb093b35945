/**
 * A parser that takes nothing but what RFC 9112 says a sender may send. Everything that bearerd writes, to a client or
 * to an upstream, has to get through it. It is synchronous and shares nothing with the libraries under test.
 */

export interface Message {
  readonly startLine: string;
  /** Names in lower case, and values. */
  readonly lines: readonly (readonly [string, string])[];
  readonly head: string;
  readonly body: Buffer;
}

type Kind = 'request' | 'response';
type Framing = { readonly length: number } | 'chunked' | 'close' | 'tunnel';

const START: Record<Kind, RegExp> = {
  // Bytes above 0x7f in a query are nothing that HTTP allows, but pass as they are.
  request:
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \/[\x21-\x22\x24-\x3e\x40-\x7e]*(?:\?[\x21-\x22\x24-\x7e\x80-\xff]*)? HTTP\/1\.1$/,
  response: /^HTTP\/1\.1 [1-9]\d\d [\t\x20-\x7e\x80-\xff]*$/,
};
const LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[\t\x20-\x7e\x80-\xff]*$/;
const LONGEST_HEAD = 128 * 1024;

export const valuesOf = ({ lines }: Pick<Message, 'lines'>, name: string): string[] =>
  lines.flatMap(([key, value]) => (key === name ? [value] : []));

export class StrictReader {
  readonly #kind: Kind;
  readonly #onMessage: (message: Message) => void;
  #buffer: Buffer = Buffer.alloc(0);
  #head: Omit<Message, 'body'> | undefined;
  #framing: Framing = { length: 0 };
  #chunks: Buffer[] = [];
  /** What was wrong; nothing is read any more then. */
  fault: string | undefined;
  /** The connection carries no HTTP any more. */
  tunnel = false;

  constructor(kind: Kind, onMessage: (message: Message) => void) {
    this.#kind = kind;
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    if (this.fault !== undefined || this.tunnel) return;
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    while (this.fault === undefined && !this.tunnel && this.#step());
  }

  /** In the middle of a message, as far as one can tell. A body that only the end delimits is whole at any time. */
  get unfinished(): boolean {
    return (
      this.#buffer.length > 0 ||
      (this.#head !== undefined && this.#framing !== 'close' && !this.#isBodyOptional)
    );
  }

  /** The connection has ended in order. */
  end(): void {
    if (this.#head !== undefined && (this.#framing === 'close' || this.#isBodyOptional)) this.#emit();
  }

  /** A problem says nothing of the method that it answers: to a HEAD its body is left out. */
  get #isBodyOptional(): boolean {
    return (
      this.#kind === 'response' &&
      this.#buffer.length === 0 &&
      this.#chunks.length === 0 &&
      valuesOf(this.#head!, 'content-type')[0] === 'application/problem+json'
    );
  }

  #step(): boolean {
    if (this.#head === undefined) return this.#readHead();
    if (this.#framing === 'tunnel') {
      this.tunnel = true;
      this.#emit();
      return false;
    }
    if (this.#framing === 'chunked') return this.#readChunk();
    if (this.#framing === 'close') {
      this.#take(this.#buffer.length);
      return false;
    }
    if (this.#framing.length > 0 && this.#isProblemToHead()) return this.#emit();
    if (this.#buffer.length < this.#framing.length) return false;
    this.#take(this.#framing.length);
    return this.#emit();
  }

  #isProblemToHead(): boolean {
    return (
      this.#buffer[0] === 0x48 && valuesOf(this.#head!, 'content-type')[0] === 'application/problem+json'
    );
  }

  #take(length: number): void {
    if (length > 0) this.#chunks.push(this.#buffer.subarray(0, length));
    this.#buffer = this.#buffer.subarray(length);
  }

  #emit(): boolean {
    const message = { ...this.#head!, body: Buffer.concat(this.#chunks) };
    this.#head = undefined;
    this.#chunks = [];
    this.#onMessage(message);
    return true;
  }

  #fail(what: string, bytes: string): false {
    this.fault = `${what}: ${JSON.stringify(bytes.slice(0, 600))}`;
    return false;
  }

  #readHead(): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end === -1) {
      return this.#buffer.length > LONGEST_HEAD
        ? this.#fail('no end of the head', this.#buffer.toString('latin1', 0, 600))
        : false;
    }
    const head = this.#buffer.toString('latin1', 0, end);
    const [startLine = '', ...rest] = head.split('\r\n');
    if (!START[this.#kind].test(startLine)) return this.#fail('start line', head);
    const wrong = rest.find((line) => !LINE.test(line));
    if (wrong !== undefined) return this.#fail(`header line ${JSON.stringify(wrong)}`, head);
    const lines = rest.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    this.#head = { startLine, lines, head };
    this.#buffer = this.#buffer.subarray(end + 4);
    return this.#frame();
  }

  #frame(): boolean {
    const { lines, startLine, head } = this.#head!;
    const lengths = valuesOf({ lines }, 'content-length');
    const codings = valuesOf({ lines }, 'transfer-encoding');
    if (lengths.length + codings.length > 1) return this.#fail('framed twice', head);
    if (lengths.some((length) => !/^\d{1,15}$/.test(length))) return this.#fail('length', head);
    if (codings.some((coding) => coding !== 'chunked')) return this.#fail('coding', head);
    const length = { length: Number(lengths[0] ?? 0) };
    if (this.#kind === 'request') {
      if (valuesOf({ lines }, 'host').length !== 1) return this.#fail('host', head);
      const upgrades = valuesOf({ lines }, 'upgrade').length > 0;
      this.#framing = codings.length > 0 ? 'chunked' : upgrades ? 'tunnel' : length;
      return true;
    }
    const status = Number(startLine.slice(9, 12));
    const bodyless = status < 200 || status === 204 || status === 304 || isToHead({ lines });
    if ((status < 200 || status === 204) && lengths.length + codings.length > 0)
      return this.#fail('a length without a body', head);
    if (status === 101) this.#framing = 'tunnel';
    else if (bodyless) this.#framing = { length: 0 };
    else if (codings.length > 0) this.#framing = 'chunked';
    else this.#framing = lengths.length > 0 ? length : 'close';
    return true;
  }

  #readChunk(): boolean {
    const end = this.#buffer.indexOf('\r\n');
    if (end === -1) return false;
    const line = this.#buffer.toString('latin1', 0, end);
    if (!/^[0-9a-fA-F]{1,12}$/.test(line)) return this.#fail('chunk size', line);
    const size = Number.parseInt(line, 16);
    if (this.#buffer.length < end + 2 + size + 2) return false;
    if (this.#buffer.toString('latin1', end + 2 + size, end + 4 + size) !== '\r\n')
      return this.#fail('chunk end or trailers', this.#buffer.toString('latin1', 0, 600));
    this.#buffer = this.#buffer.subarray(end + 2);
    this.#take(size);
    this.#buffer = this.#buffer.subarray(2);
    return size > 0 ? true : this.#emit();
  }
}

/** The fuzzers' own upstream says which method it answers. */
function isToHead(head: Pick<Message, 'lines'>): boolean {
  return valuesOf(head, 'x-method')[0] === 'HEAD';
}
