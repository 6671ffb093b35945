/**
 * What a parser gives: a value, or what is wrong and what would be right. A problem never quotes the text that
 * it is about: people paste secrets into the wrong place, and problems end up in logs.
 */
export type Parsed<T> =
  | { readonly value: T }
  /** `rest`: what is good in a list of which something is not, so that the rest can be checked at the same time. */
  | { readonly problem: string; readonly rest?: T };

/** Runs on with a parser's value; a problem stays what it is. */
export function andThen<A, B>(parsed: Parsed<A>, next: (value: A) => Parsed<B>): Parsed<B> {
  return 'problem' in parsed ? { problem: parsed.problem } : next(parsed.value);
}
