/** `${NAME}`, `$NAME`, `$(NAME)` or `$(command)`, `{{ name }}`: what shells, Compose, Kubernetes and templates replace. */
const PLACEHOLDER = /\$\{([^{}]*)\}|\$([A-Z_][A-Z0-9_]+)|\$\(([^()]*)\)|\{\{(.*?)\}\}/;
const WHOLE = new RegExp(`^\\s*(?:${PLACEHOLDER.source})\\s*$`);
const NAME = /^[A-Z][A-Z0-9_]*$/;

interface Placeholder {
  readonly index: number;
  /** As a message may show it. */
  readonly shown: string;
  /** The variable that it names; `NAME` unless it looks like one: anything may stand between the braces. */
  readonly name: string;
}

function placeholderIn(text: string, pattern: RegExp): Placeholder | undefined {
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const [braced, bare, parens, template] = found.slice(1);
  const forms = [
    [braced, `\${…}`],
    [bare, `$${bare}`],
    [parens, '$(…)'],
    [template, '{{…}}'],
  ] as const;
  const [inside = '', shown = ''] = forms.find(([text]) => text !== undefined) ?? [];
  return { index: found.index, shown, name: NAME.test(inside.trim()) ? inside.trim() : 'NAME' };
}

/** A placeholder that is a whole secret. A password may be a $ and capital letters, so those are not shown. */
export function wholePlaceholder(text: string): Placeholder | undefined {
  const found = placeholderIn(text, WHOLE);
  return found !== undefined && /^\$\w/.test(found.shown)
    ? { ...found, shown: '$NAME', name: 'NAME' }
    : found;
}

/**
 * The fault of a value of the file that holds a placeholder: other tools replace it, YAML doesn't.
 */
export function placeholderProblem(raw: unknown): string | undefined {
  const found = firstIn(raw);
  return (
    found &&
    `${found.shown} is not replaced in this file; write the value itself, or give this setting by its variable ({ env: ${found.name} } is for secrets only)`
  );
}

/** The same for a variable. */
export function variablePlaceholderProblem(text: string): string | undefined {
  const found = firstIn(text);
  return found && `${found.shown} is not replaced here; write the value itself`;
}

function firstIn(raw: unknown): Placeholder | undefined {
  const texts = (Array.isArray(raw) ? raw : [raw]).filter((each) => typeof each === 'string');
  return texts.map((text) => placeholderIn(text, PLACEHOLDER)).find((found) => found !== undefined);
}

/**
 * The message for a YAML fault in a line with `${NAME}`: within brackets and braces it breaks the syntax, and causes the
 * faults after it.
 */
export function brokenPlaceholder(text: string, offset: number): string | undefined {
  const begin = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const found = placeholderIn(text.slice(begin, end === -1 ? undefined : end), PLACEHOLDER);
  if (found === undefined || begin + found.index > offset) return undefined;
  return `${found.shown} is not replaced in this file; write { env: ${found.name} } for a secret, and use the variable for anything else`;
}
