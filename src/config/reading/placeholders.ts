import type { Report } from './faults.ts';
import { below, isMap } from './maps.ts';

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
  const shown =
    bare !== undefined
      ? `$${bare}`
      : template !== undefined
        ? '{{…}}'
        : parens !== undefined
          ? '$(…)'
          : `\${…}`;
  const inside = (braced ?? bare ?? parens ?? template ?? '').trim();
  return { index: found.index, shown, name: NAME.test(inside) ? inside : 'NAME' };
}

/** How a text that is a placeholder as a whole may be shown. */
export function wholePlaceholder(text: string): string | undefined {
  return placeholderIn(text, WHOLE)?.shown.replace(/^\$\w+/, '$NAME');
}

/**
 * What to say of a fault of YAML in a line that holds `${NAME}`: between brackets and braces it breaks the syntax, and all
 * that the parser finds behind it comes from that.
 */
export function brokenPlaceholder(text: string, offset: number): string | undefined {
  const begin = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const found = placeholderIn(text.slice(begin, end === -1 ? undefined : end), PLACEHOLDER);
  if (found === undefined || begin + found.index > offset) return undefined;
  return `${found.shown} is not replaced in this file; write { env: ${found.name} } for a secret, and use the variable for anything else`;
}

/** Keys of the file whose values are secrets. That of the URL of a Redis is none of them: only its password is one. */
const SECRET_KEY =
  /^(?:callerKey|share\.key|callers\..+\.key|credentials\..+\.(?:clientId|clientSecret|username|password|key|parameters\..+))$/;

/**
 * Faults for placeholders, which other tools replace and YAML doesn't: they would be used as they stand. In a secret only as
 * the whole value, since a password may hold it.
 *
 * @returns the keys; nothing else need be said of them.
 */
export function reportPlaceholders(content: unknown, report: Report): ReadonlySet<string> {
  const keys = new Set<string>();
  /** An alias is the same object again, and may even stand in itself. */
  const seen = new Set<unknown>();
  const visit = (value: unknown, key: string): void => {
    if (seen.has(value)) return;
    if (typeof value === 'object') seen.add(value);
    if (typeof value === 'string') {
      const isSecret = SECRET_KEY.test(key);
      const found = placeholderIn(value, isSecret ? WHOLE : PLACEHOLDER);
      if (found === undefined) return;
      // A password may well be a $ and capital letters.
      const isBare = isSecret && /^\$\w/.test(found.shown);
      const { shown, name } = isBare ? { shown: '$NAME', name: 'NAME' } : found;
      const remedy = isSecret
        ? `write { env: ${name} }`
        : `write the value itself, or give this setting by its variable ({ env: ${name} } is for secrets only)`;
      report(key, `${shown} is not replaced in this file; ${remedy}`);
      keys.add(key);
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        visit(item, `${key}[${index}]`);
      });
    } else if (isMap(value)) {
      // The arguments of a command may well be for a shell.
      for (const [name, inner] of Object.entries(value))
        if (name !== 'command') visit(inner, below(key, name));
    }
  };
  visit(content, '');
  return keys;
}

/** The same for variables that aren't secret: from a flag, the environment or `.env`. */
export function reportVariablePlaceholders(
  variables: Readonly<Record<string, string>>,
  isSecret: (name: string) => boolean,
  report: Report,
): ReadonlySet<string> {
  const faulty = Object.entries(variables).flatMap(([name, text]) => {
    const found = isSecret(name) ? undefined : placeholderIn(text, PLACEHOLDER);
    return found === undefined ? [] : [[name, found.shown] as const];
  });
  for (const [name, shown] of faulty) report(name, `${shown} is not replaced here; write the value itself`);
  return new Set(faulty.map(([name]) => name));
}
