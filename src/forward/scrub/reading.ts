import type { Searcher } from './searcher.ts';

/** A part of an answer. All positions count from the answer's first byte. */
export interface TextPart {
  readonly bytes: Uint8Array;
  /** The position of the first of the bytes. */
  readonly base: number;
  /** The part is read up to here; later bytes only show where an escape ends. */
  readonly until: number;
  /** No more bytes follow. */
  readonly final: boolean;
}

/** Called for each match, with the position of its first byte and the one after its last byte. */
export type OnMatch = (start: number, end: number) => void;

/** Searches an answer, read in one way, for credentials. Each part follows the one before. */
export interface Reading {
  read(text: TextPart, onMatch: OnMatch): void;
  /** A copy that goes on from here, and searches for these values. What it has begun to match, it ends. */
  copy(searcher: Searcher): Reading;
}
