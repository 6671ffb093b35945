import type { Secret } from '../../base/secret.ts';
import type { Values } from '../declaration/settings.ts';
import type { Reading } from '../reading/reading.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { DeclaredRoutes } from './routes.ts';

/** So many random letters and digits can't be guessed, however many texts an echo takes. */
const SHORTEST = 16;

/**
 * A caller whose own text is echoed sees by its stars that it is a credential: what is short, or a word, can be guessed so.
 * Of tokens and client secrets servers make long ones.
 */
export function checkShortSecrets(
  routes: DeclaredRoutes,
  values: Values,
  { declared: all }: Credentials,
  { warn }: Reading,
): void {
  if (!routes.some(({ value }) => value?.scrub ?? values.scrub)) return;
  for (const {
    at,
    declared: { type, declared },
  } of all.values()) {
    const guessable: Record<string, Secret | undefined> =
      type === 'basic' ? { password: declared.password } : type === 'apiKey' ? { key: declared.key } : {};
    for (const [field, secret] of Object.entries(guessable)) {
      if (secret === undefined || secret.characters() >= SHORTEST) continue;
      warn(
        at.below(field).key,
        `is shorter than ${SHORTEST} characters: with scrub, a caller whose own text is echoed can guess it; use a longer one`,
      );
    }
  }
}
