import { createHash, type Hash, type Hmac } from 'node:crypto';
import { inspect } from 'node:util';
import { asBytes } from './bytes.ts';

/**
 * A value that does not print itself: as text (in a template, in JSON, by console.log, in a logger or in an inspected
 * error) it is `***`. Only `expose()` gives its content.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** A value that may hold secrets, as JSON. */
  static json(value: unknown): Secret {
    const shown = function (this: Record<string, unknown>, key: string, given: unknown): unknown {
      const original = this[key]; // `given` is what `toJSON` returned.
      return original instanceof Secret ? original.#value : given;
    };
    return new Secret(JSON.stringify(value, shown));
  }

  /** A body of `application/x-www-form-urlencoded`, without the fields that have no value. */
  static form(fields: Iterable<readonly [name: string, value: string | Secret | undefined]>): Secret {
    const form = new URLSearchParams();
    for (const [name, value] of fields)
      if (value !== undefined) form.append(name, value instanceof Secret ? value.#value : value);
    return new Secret(form.toString());
  }

  /** Several parts as one secret. */
  static joined(parts: readonly (string | Secret)[], separator: string): Secret {
    return new Secret(parts.map((part) => (part instanceof Secret ? part.#value : part)).join(separator));
  }

  /** The content itself. `test/architecture.test.ts` lists the files that may call this. */
  expose(): string {
    return this.#value;
  }

  /** In UTF-8, one character for each byte, as a header value is sent. */
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

  /** Eight hexadecimal digits of the content's SHA-256: enough to tell secrets apart, not enough to guess one. */
  fingerprint(): string {
    return createHash('sha256').update(this.#value).digest('hex').slice(0, 8);
  }

  equals(other: Secret | undefined): boolean {
    return other !== undefined && other.#value === this.#value;
  }

  /** True if both have the same content, or both are undefined. */
  static same(a: Secret | undefined, b: Secret | undefined): boolean {
    return a === undefined ? b === undefined : a.equals(b);
  }

  /** True if the content matches. */
  fits(pattern: RegExp): boolean {
    return pattern.test(this.#value);
  }

  /** The number of characters: enough for the operator to see a wrong or truncated secret. */
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
