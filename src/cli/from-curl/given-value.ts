import { UsageError } from '../../base/errors.ts';
import { type CurlLine, EXPANSION_BASE } from './curl-line.ts';
import type { Piece } from './shell-line.ts';

/** A secret as the line gives it: as text, by a variable, or by a command that prints it. */
export type Given = { readonly text: string } | Exclude<Piece, string>;

const EXPANSION = /[\u{f0000}-\u{ffffd}]/u;
const EXPANSIONS = new RegExp(EXPANSION, 'gu');

function hasExpansion(text: string): boolean {
  return EXPANSION.test(text);
}

/** A text with another one for each expansion in it. */
export function replaceExpansions(text: string, by: (expansion: string) => string): string {
  return text.replaceAll(EXPANSIONS, by);
}

/**
 * A value that may be a secret.
 *
 * @param what names it in the fault
 * @throws UsageError if a variable is only a part of it: a part can't be named in the configuration.
 */
export function givenValue(text: string, { expansions }: Pick<CurlLine, 'expansions'>, what: string): Given {
  if (!hasExpansion(text)) return { text };
  const [only = '', ...rest] = text;
  const expansion = expansions[only.codePointAt(0)! - EXPANSION_BASE];
  if (rest.length > 0 || expansion === undefined)
    throw new UsageError(`${what}: a variable has to be the whole secret, and no part of it`);
  return expansion;
}

/**
 * A value that is no secret.
 *
 * @throws UsageError if a variable stands in it.
 */
export function plainText(text: string, { expansions }: Pick<CurlLine, 'expansions'>, what: string): string {
  const found = EXPANSION.exec(text)?.[0];
  if (found === undefined) return text;
  const expansion = expansions[found.codePointAt(0)! - EXPANSION_BASE]!;
  const shown = 'variable' in expansion ? `$${expansion.variable}` : '$(…)';
  throw new UsageError(`${what} holds ${shown}: write the value; only a secret may be a variable`);
}
