import { isBlank } from '../base/bytes.ts';
import { type FieldLines, fieldOf } from '../base/fields.ts';
import { HeadScanner, ResponseFault } from './head-scanner.ts';

/** A response's head, unchanged. */
export interface ResponseHead {
  readonly status: number;
  /** Each character is a byte. */
  readonly reason: string;
  readonly lines: FieldLines;
  /** A length or chunks delimit the body; else the end of the connection does. */
  readonly framed: boolean;
}

/** Reads the head of a response, in as many pieces as it comes in. Call `reset` before each head. */
export class HeadReader {
  readonly #scanner = new HeadScanner();
  readonly #limitBytes: number;
  /** The part of the head that has come. */
  #text = '';

  /** @param limitBytes for all header lines of a response */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  reset(): void {
    this.#text = '';
    this.#scanner.reset();
  }

  /**
   * @returns the index behind the head; -1 while the head is not whole
   * @throws ResponseFault
   */
  read(bytes: Buffer, from: number): number {
    const end = this.#scanner.scan(bytes, from, this.#text.length - from);
    const to = end === -1 ? bytes.length : end;
    // The limit holds for the status line, and for all header lines; the CR LF behind each of the two is not counted.
    const { fieldsAt } = this.#scanner;
    const most = this.#limitBytes + 2;
    if (fieldsAt > most || this.#text.length + to - from - fieldsAt > most) {
      throw new ResponseFault('the header lines are too large', 'head-too-large');
    }
    const text = bytes.toString('latin1', from, to);
    this.#text = this.#text === '' ? text : this.#text + text;
    return end;
  }

  get status(): number {
    const { statusAt } = this.#scanner;
    return Number(this.#text.slice(statusAt, statusAt + 3));
  }

  get reason(): string {
    return this.#text.slice(this.#scanner.reasonAt, this.#scanner.reasonEnd);
  }

  /** Minor version of HTTP/1. */
  get minor(): number {
    return this.#scanner.minor;
  }

  lines(): FieldLines {
    const { places } = this.#scanner;
    const text = this.#text;
    const pairs: string[] = [];
    const fields: number[] = [];
    for (let i = 0; i < places.length; i += 4) {
      const name = text.slice(places[i], places[i + 1]);
      let valueEnd = places[i + 3]!;
      const valueAt = places[i + 2]!;
      while (valueEnd > valueAt && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd--;
      pairs.push(name, text.slice(valueAt, valueEnd));
      fields.push(fieldOf(name));
    }
    return { pairs, fields };
  }
}
