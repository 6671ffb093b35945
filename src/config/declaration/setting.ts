import type { Kind } from '../values/kind.ts';

/** A setting that a variable, the file, or both may give. */
export interface Setting<T> {
  readonly variable: string;
  /** The dotted key in the file; absent if the file can't give it. */
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

type Rest = Omit<Setting<unknown>, 'variable' | 'key' | 'kind'>;

export function setting<const V extends string, const K extends string, T, const R extends Rest>(
  variable: V,
  key: K,
  kind: Kind<T>,
  rest: R,
): { readonly variable: V; readonly key: K; readonly kind: Kind<T> } & R {
  return { variable, key, kind, ...rest };
}

/** @param use what it has to fit into */
export function secret<const V extends string, const K extends string>(
  use: SecretSetting['secret'],
  variable: V,
  key: K,
  description: string,
) {
  return { secret: use, variable, key, description };
}

/** A secret's variables: one holds it, one names a file, one is a command. */
export function formsOf({ variable }: SecretSetting): readonly [string, string, string] {
  return [variable, `${variable}_FILE`, `${variable}_COMMAND`];
}

/** A variable's name without the ending of the latter two. */
export function withoutForm(variable: string): string {
  return variable.replace(/_(?:FILE|COMMAND)$/, '');
}

/** With a longer time, `setTimeout` fires at once (2^31-1 ms, nearly 25 days). */
export const LONGEST_TIMER = { max: 596 * 3_600_000 };
