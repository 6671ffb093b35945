import { mapOf } from '../../shapes/collections.ts';
import { type Variant, variants } from '../../shapes/variants.ts';
import { EXEC } from './exec.ts';
import { API_KEY, BASIC } from './keys.ts';
import { OAUTH2 } from './oauth2.ts';
import { PLACEMENT } from './placement.ts';
import { SESSION } from './session.ts';

/** `none` and `deny` are what a route says instead of a credential's name. */
export const RESERVED_NAMES: readonly string[] = ['none', 'deny'];
const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_-]*$';

/** What is wrong with a name that the user chooses, if anything. */
export function nameProblem(name: string): string | undefined {
  const isName = new RegExp(NAME_PATTERN).test(name);
  return isName ? undefined : 'must have a name of letters, digits, - and _ that begins with a letter';
}

export const NAMES = { propertyNames: { pattern: NAME_PATTERN } };

/** One credential, of one of the types. */
export const CREDENTIAL = variants(
  'type',
  { session: SESSION, apiKey: API_KEY, basic: BASIC, oauth2: OAUTH2, exec: EXEC },
  PLACEMENT,
);
export type DeclaredCredential = Variant<typeof CREDENTIAL.objects>;

export const CREDENTIAL_TYPES = CREDENTIAL.objects;

export const CREDENTIALS = mapOf({
  of: CREDENTIAL,
  nameProblem: (name) =>
    RESERVED_NAMES.includes(name)
      ? `cannot be a credential's name: routes use ${name} as a word`
      : nameProblem(name),
  schema: { propertyNames: { pattern: NAME_PATTERN, not: { enum: RESERVED_NAMES } } },
});
