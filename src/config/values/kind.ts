/**
 * A parser's result: a value, or what is wrong and what would be right. A problem never quotes the text, since people
 * paste secrets into the wrong place, and problems end up in logs.
 */
export type Parsed<T> =
  | { readonly value: T }
  /** `rest`: the valid entries of a list with faulty ones, so that they are checked at the same time. */
  | { readonly problem: string; readonly rest?: T };

/** Continues with a parser's value; passes a problem on. */
export function andThen<A, B>(parsed: Parsed<A>, next: (value: A) => Parsed<B>): Parsed<B> {
  return 'problem' in parsed ? { problem: parsed.problem } : next(parsed.value);
}

/** Possible faults; the first one that holds is the most helpful to report. */
export type Faults = readonly (readonly [holds: (text: string) => boolean, problem: string])[];

export function problemIn(text: string, faults: Faults): string | undefined {
  return faults.find(([holds]) => holds(text))?.[1];
}

/** The problems of a list's entries, each with its number; undefined if there are none. */
export function problemsOf(entries: readonly (string | undefined)[]): string | undefined {
  const problems = entries.flatMap((problem, index) =>
    problem === undefined ? [] : [`entry ${index + 1}: ${problem}`],
  );
  return problems.length > 0 ? problems.join('; ') : undefined;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a value is read, how a person writes it, and its JSON Schema. */
export interface Kind<T> {
  readonly schema: JsonSchema;
  /** A `$` in it may be meant for another program. */
  readonly verbatim?: boolean;
  /** Takes a variable's text, or any value of the file. */
  parse(raw: unknown): Parsed<T>;
  /** As the file would say it. */
  format(value: T): unknown;
}

/** Takes a number or a boolean of YAML as text, so that `10` gets the fault of a missing unit. */
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
  /** At least one entry is needed; the name of one in the fault. */
  readonly needs?: string;
  /** The word `off`, alone, is the empty list. */
  readonly off?: boolean;
}

const OTHER_SEPARATORS = /[;|\s]+/;

/** The fault of several valid entries with another separator than the comma. */
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

/** Text with commas, or a list in the file. Empty entries are dropped, so a final comma does no harm. */
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
