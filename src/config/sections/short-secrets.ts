import type { Secret } from '../../base/secret.ts';
import type { Values } from '../declaration/settings.ts';
import type { Reading } from '../reading/reading.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { DeclaredRoutes } from './routes.ts';

/** This many random letters and digits can't be guessed through an echo. */
const SHORTEST = 16;

/**
 * Where an answer echoes a caller's own text, stars in it show that the text is a credential: a short one, or a word, can be
 * guessed that way. Tokens and client secrets are not checked: servers issue long ones.
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
