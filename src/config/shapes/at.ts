import { below } from '../reading/maps.ts';
import type { Reading } from '../reading/reading.ts';

/** Where a value stands; takes the faults of that value. */
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

  report(problem: string): void {
    this.reading.report(this.key, problem);
  }

  below(name: string): At {
    return new At(this.#variables.get(name) ?? below(this.key, name), this.reading);
  }

  item(index: number): At {
    return new At(`${this.key}[${index}]`, this.reading);
  }
}

/** A place for values that have no keys of their own: what is wrong with any of them is told of one variable or key. */
export function standIn(key: string, words: string, reading: Reading): At {
  const told =
    (tell: Reading['report']): Reading['report'] =>
    (_key, problem, where) =>
      tell(key, `${words}${problem}`, where);
  return new At(key, { ...reading, report: told(reading.report), warn: told(reading.warn) });
}
