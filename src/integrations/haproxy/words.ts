const SPECIAL = /[\s"'#\\]/;

/** Quotes a word of a HAProxy configuration: quotes, blanks, `#` and backslashes have a meaning there (section 2.2). */
export function word(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.includes("'") ? text.replaceAll(new RegExp(SPECIAL, 'g'), '\\$&') : `'${text}'`;
}

/** Escapes a text for a regular expression. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A section: its first line, and the lines below it. */
export type Section = readonly [head: string, lines: readonly string[]];

export function sectionText([head, lines]: Section): string {
  return [head, ...lines.map((line) => (line === '' ? '' : `    ${line}`))].join('\n').concat('\n');
}

/** HAProxy 2.6 accepts no longer time. */
const LONGEST = '24d';

/** @param ms 0 for no limit */
export function time(ms: number): string {
  if (ms === 0) return LONGEST;
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}
