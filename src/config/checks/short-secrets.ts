import type { CredentialConfig } from '../config.ts';
import type { Credentials } from '../reading/credentials.ts';
import type { Reading } from '../reading/reading.ts';
import type { RouteDraft } from '../reading/route-drafts.ts';

/** Of random letters and digits nobody guesses so many, however many texts an echo takes. */
const SHORTEST = 16;

/**
 * A caller whose own text is echoed sees by its stars that it is a credential: what is short, or a word, can be guessed so.
 * Of tokens and client secrets servers make long ones.
 */
export function checkShortSecrets(
  routes: readonly RouteDraft[],
  { usable }: Credentials,
  { warn, environment }: Reading,
): void {
  if (!routes.some(({ scrub }) => scrub)) return;
  for (const credential of usable.values()) {
    const given = guessable(credential);
    if (given === undefined || given.secret.characters() >= SHORTEST) continue;
    const variable = Object.keys(environment.variables).find((name) => name.startsWith('BEARERD_API_KEY'));
    const ofVariable = credential.name === 'apiKey' && variable !== undefined;
    warn(
      ofVariable ? variable : `credentials.${credential.name}.${given.field}`,
      `is shorter than ${SHORTEST} characters: with scrub, a caller whose own text is echoed can guess it; use a longer one`,
    );
  }
}

function guessable(credential: CredentialConfig) {
  if (credential.kind === 'basic') return { field: 'password', secret: credential.password };
  return credential.kind === 'api-key' ? { field: 'key', secret: credential.key } : undefined;
}
