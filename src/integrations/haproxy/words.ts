const SPECIAL = /[\s"'#\\]/;

/** A word of a HAProxy configuration: quotes, blanks, `#` and backslashes mean something there (section 2.2). */
export function word(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.includes("'") ? text.replaceAll(new RegExp(SPECIAL, 'g'), '\\$&') : `'${text}'`;
}

/** A text that a regular expression takes literally. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A section's first line, and what stands in it. */
export type Section = readonly [head: string, lines: readonly string[]];

export function sectionText([head, lines]: Section): string {
  return [head, ...lines.map((line) => (line === '' ? '' : `    ${line}`))].join('\n').concat('\n');
}

/** 2.6 takes no longer times. */
const LONGEST = '24d';

/** @param ms 0 for no limit */
export function time(ms: number): string {
  if (ms === 0) return LONGEST;
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}
