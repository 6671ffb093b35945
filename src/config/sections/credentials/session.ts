import type { SessionCredentialConfig } from '../../credential-config.ts';
import type { Declared, Entry } from '../../shapes/object.ts';
import { secret } from '../../shapes/secret.ts';
import * as kinds from '../../values/vocabulary.ts';
import { credential, type Unplaced } from './placement.ts';

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

/** What keeps the secrets from being one whole pair. */
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
  // A line of `.env` that can't be read may be the other half.
  if (at.reading.environment.broken) return;
  for (const [index, [half, ...rest]] of given.entries()) {
    const missing = PAIRS[index]?.find((name) => name !== half);
    if (half === undefined || missing === undefined || rest.length > 0) continue;
    report(missing, `is missing; ${at.below(half).key} needs it`);
  }
}

export function sessionInForce(
  declared: Declared<typeof SESSION.fields>,
): Unplaced<SessionCredentialConfig> | undefined {
  const { clientId, clientSecret, username, password, baseUrl, sessionPath } = declared;
  const place = { ...(baseUrl && { baseUrl }), ...(sessionPath !== undefined && { sessionPath }) };
  if (clientId && clientSecret) {
    return { kind: 'session', grant: { kind: 'service-account', clientId, clientSecret }, ...place };
  }
  return username && password && { kind: 'session', grant: { kind: 'user', username, password }, ...place };
}
