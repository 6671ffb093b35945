import type { Kind } from '../values/kind.ts';

/** A setting that a variable, the file, or both may give. */
export interface Setting<T> {
  readonly variable: string;
  /** Where it stands in the file; none for what can't stand there. */
  readonly key?: string;
  readonly kind: Kind<T>;
  /** As a person would write it. */
  readonly default?: string;
  readonly required?: boolean;
  readonly description: string;
}

/** A secret that a variable may give, a file that `<variable>_FILE` names, or a command in `<variable>_COMMAND`. */
export interface SecretSetting {
  readonly secret: 'header' | 'body';
  readonly variable: string;
  readonly key: string;
  readonly description: string;
}

/** The variables that may give a secret: one that holds it, one that names a file, and one with a command. */
export function formsOf({ variable }: SecretSetting): readonly [string, string, string] {
  return [variable, `${variable}_FILE`, `${variable}_COMMAND`];
}

/** A variable's name without the ending of those two. */
export function withoutForm(variable: string): string {
  return variable.replace(/_(?:FILE|COMMAND)$/, '');
}

/** Past it `setTimeout` fires at once (2^31-1 ms, nearly 25 days). */
export const LONGEST_TIMER = { max: 596 * 3_600_000 };
