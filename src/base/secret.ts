import { createHash } from 'node:crypto';
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

  /** The content itself: for the wire, and for nothing else. */
  expose(): string {
    return this.#value;
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
