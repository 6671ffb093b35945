import type { Report } from './faults.ts';
import { below, isMap } from './maps.ts';

const WHOLE = /^\s*\$\{([^{}]*)\}\s*$/;
const ANYWHERE = /\$\{([^{}]*)\}/;
const NAME = /^[A-Z][A-Z0-9_]*$/;

/** Shown only where it looks like a variable's name: anything may stand between the braces. */
const shown = (inside: string) => (NAME.test(inside) ? inside : 'NAME');
const UNREPLACED = `\${…} is not replaced in this file`;

/**
 * What to say of a fault of YAML in a line that holds `${NAME}`: between brackets and braces it breaks the syntax, and all
 * that the parser finds behind it comes from that.
 */
export function brokenPlaceholder(text: string, offset: number): string | undefined {
  const begin = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const found = ANYWHERE.exec(text.slice(begin, end === -1 ? undefined : end));
  if (found === null || begin + found.index > offset) return undefined;
  return `${UNREPLACED}; write { env: ${shown(found[1] ?? '')} } for a secret, and use the variable for anything else`;
}

/**
 * Faults for `${NAME}`, which other tools replace and YAML doesn't: it would be used as it stands. In a secret only as the
 * whole value, since a password may hold it.
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
      const isSecret = /^(?:credentials|callerKey|callers)\b/.test(key);
      const inside = (isSecret ? WHOLE : ANYWHERE).exec(value)?.[1];
      if (inside === undefined) return;
      const name = shown(inside);
      const remedy = isSecret
        ? `write { env: ${name} }`
        : `write the value itself, or give this setting by its variable ({ env: ${name} } is for secrets only)`;
      report(key, `${UNREPLACED}; ${remedy}`);
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
