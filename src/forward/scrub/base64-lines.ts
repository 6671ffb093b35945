import { LINE_FEED } from './base64-alphabet.ts';

/** Encoders break lines after 60, 64 or 76 characters, or a few less in the first one if a name comes before it. */
export const SHORTEST_LINE = 60;
const LONGEST_LINE = 76;

/** The lines of a run of base64. */
export class Base64Lines {
  /** Where the first of several whole lines begins, if the run may go on after the last one; else infinity. */
  wholeFrom = Number.POSITIVE_INFINITY;
  /** Line feeds since the last character, not counting escaped ones; -1 if there was no line break at all. */
  #breaks = -1;
  #lineFrom: number;

  constructor(at: number) {
    this.#lineFrom = at;
  }

  copy(): Base64Lines {
    const copy = new Base64Lines(this.#lineFrom);
    copy.wholeFrom = this.wholeFrom;
    copy.#breaks = this.#breaks;
    return copy;
  }

  /** No character has come since a line break. */
  get atStart(): boolean {
    return this.#breaks >= 0;
  }

  /** A run begins. */
  begin(at: number): void {
    this.#lineFrom = at;
  }

  /** A character has come. */
  goOn(): void {
    this.#breaks = -1;
  }

  escapedBreak(): void {
    this.#breaks = Math.max(this.#breaks, 0);
  }

  break(byte: number, at: number): void {
    if (this.#breaks < 0) {
      const line = at - this.#lineFrom;
      const whole = line >= SHORTEST_LINE && line <= LONGEST_LINE;
      if (!whole) this.wholeFrom = Number.POSITIVE_INFINITY;
      else if (this.wholeFrom === Number.POSITIVE_INFINITY) this.wholeFrom = this.#lineFrom;
      this.#breaks = 0;
    }
    if (byte === LINE_FEED) this.#breaks++;
    if (this.#breaks > 1) this.wholeFrom = Number.POSITIVE_INFINITY; // An empty line ends the run of lines.
    this.#lineFrom = at + 1;
  }

  /** An indent doesn't count towards the length of a line. */
  indent(at: number): void {
    this.#lineFrom = at + 1;
  }

  end(): void {
    this.#breaks = -1;
    this.wholeFrom = Number.POSITIVE_INFINITY;
  }
}
