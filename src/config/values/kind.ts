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

/** What may be wrong, in this order: the first one that holds is the most helpful thing to say. */
export type Faults = readonly (readonly [holds: (text: string) => boolean, problem: string])[];

export function problemIn(text: string, faults: Faults): string | undefined {
  return faults.find(([holds]) => holds(text))?.[1];
}

/** The problems of some entries, each with its number; undefined where none has one. */
export function problemsOf(entries: readonly (string | undefined)[]): string | undefined {
  const problems = entries.flatMap((problem, index) =>
    problem === undefined ? [] : [`entry ${index + 1}: ${problem}`],
  );
  return problems.length > 0 ? problems.join('; ') : undefined;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a value can be: how it is read, how a person writes it, and its JSON Schema in the file. */
export interface Kind<T> {
  readonly schema: JsonSchema;
  /** A `$` in it may be meant for another program. */
  readonly verbatim?: boolean;
  /** From a variable's text, or from whatever stands in the file. */
  parse(raw: unknown): Parsed<T>;
  /** As it would stand in the file. */
  format(value: T): unknown;
}

/** A number or a boolean in YAML is taken as the text it was written as; `10` is then refused where `10s` is meant. */
function scalarText(raw: unknown): Parsed<string> {
  if (typeof raw === 'string') return { value: raw.trim() };
  if (typeof raw === 'number' || typeof raw === 'boolean') return { value: String(raw) };
  return { problem: `must be one value and not a ${Array.isArray(raw) ? 'list' : 'map'}` };
}

export function scalar<T>(
  parse: (text: string) => Parsed<T>,
  schema: JsonSchema,
  format: (value: T) => unknown = (value) => value,
): Kind<T> {
  return { schema, parse: (raw) => andThen(scalarText(raw), parse), format };
}

const STRING: JsonSchema = { type: 'string' };

interface ListRules {
  /** What an entry is called where at least one is needed. */
  readonly needs?: string;
  /** The word `off`, alone, is the empty list. */
  readonly off?: boolean;
}

const OTHER_SEPARATORS = /[;|\s]+/;

/** What is wrong with an entry that is several good ones, with another separator than the comma between them. */
function separatorProblem<T>(text: string, parse: (text: string) => Parsed<T>): string | undefined {
  const parts = text.split(OTHER_SEPARATORS).filter((part) => part !== '');
  if (parts.length < 2 || !parts.every((part) => 'value' in parse(part))) return undefined;
  const [separator = ' '] = OTHER_SEPARATORS.exec(text) ?? [];
  const name = separator.trim() === '' ? 'a space or a line end' : `"${separator.trim()}"`;
  return `has ${name} between ${parts.length} entries; separate them with commas`;
}

function entriesOf(raw: unknown): Parsed<readonly unknown[]> {
  if (Array.isArray(raw)) return { value: raw };
  const line = scalarText(raw);
  if ('problem' in line) return { problem: 'must be a list, or text with commas' };
  const entries = line.value.split(',').map((entry) => entry.trim());
  return { value: entries.filter((entry) => entry !== '') };
}

/** Text with commas (empty entries are dropped, so that a final comma does no harm), or a list in the file. */
export function list<T>(
  parse: (text: string) => Parsed<T>,
  format: (value: T) => string,
  rules: ListRules = {},
): Kind<readonly T[]> {
  const parseEntry = (text: string): Parsed<T> => {
    const problem = separatorProblem(text, parse);
    if (problem !== undefined) return { problem };
    const parsed = parse(text);
    const isGlued = 'problem' in parsed && /^-\S/.test(text) && 'value' in parse(text.slice(1));
    return isGlued ? { problem: 'needs a space after the - of a list' } : parsed;
  };
  const read = (entries: readonly unknown[]): Parsed<readonly T[]> => {
    const parsed = entries.map((entry) => andThen(scalarText(entry), parseEntry));
    const problems = parsed.map((entry) => ('problem' in entry ? entry.problem : undefined));
    const problem = entries.length > 1 ? problemsOf(problems) : problems[0];
    const values = parsed.flatMap((entry) => ('value' in entry ? [entry.value] : []));
    if (problem !== undefined) return { problem, rest: values };
    if (rules.needs !== undefined && entries.length === 0)
      return { problem: `needs at least one ${rules.needs}` };
    return { value: values };
  };
  return {
    schema: { oneOf: [STRING, { type: 'array', items: STRING, ...(rules.needs && { minItems: 1 }) }] },
    parse: (raw) => {
      const off = rules.off === true && typeof raw === 'string' && raw.trim() === 'off';
      return off ? { value: [] } : andThen(entriesOf(raw), read);
    },
    format: (values) => (rules.off === true && values.length === 0 ? 'off' : values.map(format)),
  };
}
