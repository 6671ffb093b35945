import { below } from '../reading/maps.ts';
import type { Reading } from '../reading/reading.ts';

/** Where a value stands. It reports the faults of that value. */
export class At {
  /** The dotted key, or the variable, that a fault names. */
  readonly key: string;
  readonly reading: Reading;
  readonly #variables: ReadonlyMap<string, string>;

  /** @param variables what stands for a key below this one, where it comes from a variable */
  constructor(key: string, reading: Reading, variables: ReadonlyMap<string, string> = new Map()) {
    this.key = key;
    this.reading = reading;
    this.#variables = variables;
  }

  /** Gives what a reader returns that has no value. */
  report(problem: string): undefined {
    this.reading.report(this.key, problem);
  }

  below(name: string): At {
    return new At(this.#variables.get(name) ?? below(this.key, name), this.reading);
  }

  item(index: number): At {
    return new At(`${this.key}[${index}]`, this.reading);
  }
}

/** A place for values without keys of their own: a fault of any of them names this variable or key. */
export function standIn(key: string, words: string, reading: Reading): At {
  const ofKey =
    (report: Reading['report']): Reading['report'] =>
    (_key, problem, where) =>
      report(key, `${words}${problem}`, where);
  return new At(key, { ...reading, report: ofKey(reading.report), warn: ofKey(reading.warn) });
}
