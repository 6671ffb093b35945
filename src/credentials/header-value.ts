import { Secret } from '../config/secret.ts';

/** What stands in a credential's header: `Bearer eyJ...`, or the bare value. Made once for each value. */
export function headerValueOf(value: Secret, scheme: string): Secret {
  return scheme === '' ? value : new Secret(`${scheme} ${value.expose()}`);
}
