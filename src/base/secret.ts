import { createHash, type Hash, type Hmac } from 'node:crypto';
import { inspect } from 'node:util';

/** Text in UTF-8 with a character for each byte, as header values, paths and answers are here. */
export function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * A value that cannot print itself: whatever turns it into text (a template, JSON, console.log, a logger,
 * an error's inspection) gets `***`. Its content comes out by `expose()` alone.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The JSON of a value that may hold secrets. */
  static json(value: unknown): Secret {
    const shown = function (this: Record<string, unknown>, key: string, given: unknown): unknown {
      const original = this[key]; // `given` went through `toJSON`.
      return original instanceof Secret ? original.#value : given;
    };
    return new Secret(JSON.stringify(value, shown));
  }

  /** `application/x-www-form-urlencoded`, without the fields that have no value. */
  static form(fields: Iterable<readonly [name: string, value: string | Secret | undefined]>): Secret {
    const form = new URLSearchParams();
    for (const [name, value] of fields)
      if (value !== undefined) form.append(name, value instanceof Secret ? value.#value : value);
    return new Secret(form.toString());
  }

  /** One secret made of several parts. */
  static joined(parts: readonly (string | Secret)[], separator: string): Secret {
    return new Secret(parts.map((part) => (part instanceof Secret ? part.#value : part)).join(separator));
  }

  /** The content itself, for a place where it leaves the process: `test/architecture.test.ts` names them all. */
  expose(): string {
    return this.#value;
  }

  /** In UTF-8 with a character for each byte: as it is sent in a header. */
  asBytes(): Secret {
    return new Secret(asBytes(this.#value));
  }

  /** In base64, from UTF-8. */
  base64(): Secret {
    return new Secret(Buffer.from(this.#value, 'utf8').toString('base64'));
  }

  /** As a value of `application/x-www-form-urlencoded`. */
  formEncoded(): Secret {
    return new Secret(new URLSearchParams([['', this.#value]]).toString().slice(1));
  }

  /** Adds the content to a digest, in UTF-8. */
  addTo(hash: Hash | Hmac): void {
    hash.update(this.#value, 'utf8');
  }

  /** Eight hexadecimal digits of the content's SHA-256: enough to tell two apart, not enough to guess one. */
  fingerprint(): string {
    return createHash('sha256').update(this.#value).digest('hex').slice(0, 8);
  }

  equals(other: Secret | undefined): boolean {
    return other !== undefined && other.#value === this.#value;
  }

  /** Whether the content matches. */
  fits(pattern: RegExp): boolean {
    return pattern.test(this.#value);
  }

  /** The number of characters: enough to see that it is the wrong secret, or cut off. */
  characters(): number {
    return [...this.#value].length;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}
