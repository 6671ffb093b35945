import type { Secret } from '../../../base/secret.ts';
import type { Declared, Entry } from '../../shapes/object.ts';
import { secret } from '../../shapes/secret.ts';
import * as kinds from '../../values/vocabulary.ts';
import { credential, type InForce } from './placement.ts';

/** The secrets that log in together. */
export const PAIRS = [
  ['clientId', 'clientSecret'],
  ['username', 'password'],
] as const;

/** A login at the session endpoint, as a service account or as a user. */
export const SESSION = credential(
  {
    clientId: { kind: secret('body'), description: 'ID of the service account' },
    clientSecret: { kind: secret('body'), description: 'secret of the service account' },
    username: { kind: secret('body'), description: 'name of the user' },
    password: { kind: secret('body'), description: 'password of the user' },
    baseUrl: {
      kind: kinds.baseUrl,
      description: 'the base URL that it logs in at, where it is not the global one',
    },
    sessionPath: {
      kind: kinds.sessionPath,
      description: 'the session endpoint below that, where it is not the global one',
    },
  },
  {
    check: (_declared, entry) => checkPairs(entry),
    schema: {
      oneOf: PAIRS.map((pair) => ({ required: pair })),
      dependencies: Object.fromEntries(
        PAIRS.flatMap(([a, b]) => [
          [a, [b]],
          [b, [a]],
        ]),
      ),
    },
  },
);

/** Reports secrets that are not exactly one pair. */
function checkPairs({ at, has, report }: Entry): void {
  const given = PAIRS.map((pair) => pair.filter(has));
  const [[account], [user]] = given as [string[], string[]];
  if (account !== undefined && user !== undefined) {
    const other = at.below(account).key;
    report(user, `cannot be combined with ${other}: a credential is a service account or a user`);
    return;
  }
  if (account === undefined && user === undefined) {
    at.report('needs clientId and clientSecret, or username and password');
  }
  // The other half may be in a line of `.env` that can't be read.
  if (at.reading.environment.broken) return;
  for (const [index, [half, ...rest]] of given.entries()) {
    const missing = PAIRS[index]?.find((name) => name !== half);
    if (half === undefined || missing === undefined || rest.length > 0) continue;
    report(missing, `is missing; ${at.below(half).key} needs it`);
  }
}

/** What a session credential logs in with. */
export type SessionGrant =
  | { readonly kind: 'service-account'; readonly clientId: Secret; readonly clientSecret: Secret }
  | { readonly kind: 'user'; readonly username: Secret; readonly password: Secret };

function grantOf(declared: Declared<typeof SESSION.fields>): SessionGrant | undefined {
  const { clientId, clientSecret, username, password } = declared;
  if (clientId && clientSecret) return { kind: 'service-account', clientId, clientSecret };
  return username && password && { kind: 'user', username, password };
}

export function sessionInForce(declared: Declared<typeof SESSION.fields>) {
  const { baseUrl, sessionPath } = declared;
  const grant = grantOf(declared);
  return (
    grant && {
      kind: 'session' as const,
      grant,
      ...(baseUrl && { baseUrl }),
      ...(sessionPath && { sessionPath }),
    }
  );
}

export type SessionCredentialConfig = InForce<typeof sessionInForce>;
