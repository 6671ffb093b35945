import { createHash, type Hash, type Hmac } from 'node:crypto';
import { inspect } from 'node:util';

/**
 * A value that cannot print itself: whatever turns it into text (a template, JSON, console.log, a logger,
 * an error's inspection) gets `***`. Its content comes out by `expose()` alone.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The JSON of a value that may hold secrets, which is one then. */
  static json(value: unknown): Secret {
    const shown = function (this: Record<string, unknown>, key: string, given: unknown): unknown {
      const original = this[key]; // `given` went through `toJSON`.
      return original instanceof Secret ? original.#value : given;
    };
    return new Secret(JSON.stringify(value, shown));
  }

  /** `application/x-www-form-urlencoded`. */
  static form(fields: Iterable<readonly [name: string, value: string | Secret]>): Secret {
    const pairs = [...fields].map(([name, value]) => [name, value instanceof Secret ? value.#value : value]);
    return new Secret(new URLSearchParams(pairs).toString());
  }

  /** One secret of several. */
  static joined(parts: readonly Secret[], separator: string): Secret {
    return new Secret(parts.map((part) => part.#value).join(separator));
  }

  /** The content itself, for a place where it leaves the process: `test/architecture.test.ts` names them all. */
  expose(): string {
    return this.#value;
  }

  /** A secret that is made of it. */
  derive(make: (content: string) => string): Secret {
    return new Secret(make(this.#value));
  }

  /** Takes it into a digest, in UTF-8. */
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

  /** Whether the content is of this form; tells no more of it. */
  fits(pattern: RegExp): boolean {
    return pattern.test(this.#value);
  }

  /** How many characters it has: enough to see that it is the wrong one, or cut off. */
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
