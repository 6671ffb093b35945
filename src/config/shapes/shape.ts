import { below, isAbsent, type YamlMap } from '../reading/maps.ts';
import type { Reading } from '../reading/reading.ts';
import type { JsonSchema, Kind } from '../values/kind.ts';
import { placeholderProblem } from '../values/placeholders.ts';

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

/** What can stand at a key of the file. One for a single value, others are made of shapes. */
export interface Shape<T, W = unknown> {
  readonly schema: JsonSchema;
  /** A type and no value: what a program writes there. */
  readonly written?: W;
  /** Nothing may be shown of what stands there, nor of what stands beside it in a map. */
  readonly holdsSecrets?: boolean;
  /**
   * What stands there; undefined where that is of no use, with each fault reported.
   *
   * @param siblings the map that it stands in
   */
  read(raw: unknown, at: At, siblings: YamlMap): T | undefined;
  /** As it would stand in the file, each secret as `***`; undefined where there is nothing to say. */
  show(value: T): unknown;
}

/** A single value, read and shown by its kind. */
export function single<T>(kind: Kind<T>): Shape<T> {
  return {
    schema: kind.schema,
    read(raw, at) {
      if (isAbsent(raw)) return undefined;
      // The arguments of a command may well be for a shell.
      const placeholder = kind.verbatim === true ? undefined : placeholderProblem(raw);
      const parsed = placeholder === undefined ? kind.parse(raw) : { problem: placeholder };
      return 'value' in parsed ? parsed.value : at.report(parsed.problem);
    },
    show: (value) => kind.format(value),
  };
}

export function asShape<T>(kind: Kind<T> | Shape<T>): Shape<T> {
  return 'parse' in kind ? single(kind) : kind;
}
