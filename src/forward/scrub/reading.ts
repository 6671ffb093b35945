/** A part of an answer. Places are counted from the answer's first byte. */
export interface Text {
  readonly bytes: Uint8Array;
  /** The place of the first of the bytes. */
  readonly base: number;
  /** Read up to here; what stands behind tells how far an escape goes. */
  readonly until: number;
  /** Nothing follows the bytes. */
  readonly final: boolean;
}

/** Called for each match, with the places of its first byte and of the one behind its last. */
export type Strike = (start: number, end: number) => void;

/** One way to read an answer: in it a credential is searched for. The parts follow one another. */
export interface Reading {
  read(text: Text, strike: Strike): void;
  /** One that goes on by itself, as if nothing had come after. */
  copy(): Reading;
}
