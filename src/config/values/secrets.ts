import { Secret } from '../../base/secret.ts';

/** What is kept like a secret and may well stand elsewhere: a user's name, a resource's URL. */
const HARMLESS: readonly string[] = ['clientId', 'username', 'parameters'];

/** All secrets in a value, whatever kinds of credentials there are. */
export function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (HARMLESS.includes(key) ? [] : secretsIn(inner)));
}
