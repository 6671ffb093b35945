import { below, isAbsent, type YamlMap } from '../reading/maps.ts';
import type { Reading } from '../reading/reading.ts';
import type { JsonSchema, Kind } from '../values/kind.ts';
import { placeholderProblem } from '../values/placeholders.ts';

/** The place of a value, which reports its faults. */
export class At {
  /** The dotted key, or the variable, that a fault names. */
  readonly key: string;
  readonly reading: Reading;
  readonly #variables: ReadonlyMap<string, string>;

  /** @param variables by keys below this one: the variables that give their values */
  constructor(key: string, reading: Reading, variables: ReadonlyMap<string, string> = new Map()) {
    this.key = key;
    this.reading = reading;
    this.#variables = variables;
  }

  /** Returns undefined, so that a reader without a value can return it. */
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

/** A place for values without keys of their own: their faults name this variable or key. */
export function standIn(key: string, words: string, reading: Reading): At {
  const ofKey =
    (report: Reading['report']): Reading['report'] =>
    (_key, problem, where) =>
      report(key, `${words}${problem}`, where);
  return new At(key, { ...reading, report: ofKey(reading.report), warn: ofKey(reading.warn) });
}

/** What can stand at a key of the file: a single value, or something made of other shapes. */
export interface Shape<T, W = unknown> {
  readonly schema: JsonSchema;
  /** Only a type: what a program writes there. */
  readonly written?: W;
  /** Neither its value nor what is beside it in a map may be shown. */
  readonly holdsSecrets?: boolean;
  /**
   * Reads the value; undefined if it is absent or faulty. Reports each fault.
   *
   * @param siblings the map that holds it
   */
  read(raw: unknown, at: At, siblings: YamlMap): T | undefined;
  /** As the file would say it, each secret as `***`; undefined if there is nothing to show. */
  show(value: T): unknown;
}

/** A single value, read and shown by its kind. */
export function single<T>(kind: Kind<T>): Shape<T> {
  return {
    schema: kind.schema,
    read(raw, at) {
      if (isAbsent(raw)) return undefined;
      // A `$` in the arguments of a command may be for a shell.
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
