import { SETTINGS } from '../config/declaration/settings.ts';

export const ACCOUNTS = ['service', 'user', 'key', 'oauth2'] as const;
export type Account = (typeof ACCOUNTS)[number];

const SECRETS = {
  service: { clientId: SETTINGS.clientId, clientSecret: SETTINGS.clientSecret },
  user: { username: SETTINGS.username, password: SETTINGS.password },
  key: { key: SETTINGS.apiKey },
  // bearerd's own variables would make a session of it, whatever the file says.
  oauth2: {
    clientId: { variable: 'OAUTH_CLIENT_ID', description: 'ID of the client' },
    clientSecret: { variable: 'OAUTH_CLIENT_SECRET', description: "The client's secret" },
  },
} as const;

const TYPES: Readonly<Record<Account, string>> = {
  service: 'session',
  user: 'session',
  key: 'apiKey',
  oauth2: 'oauth2',
};

/** What a user is most likely to change next, as comments that show the defaults. */
const NEXT = ['listen', 'adminListen', 'tokenWaitMs', 'drainTimeoutMs', 'logLevel'] as const;

/** The variables that hold what the account needs. */
export function variablesOf(account: Account): readonly string[] {
  return Object.values(SECRETS[account]).map(({ variable }) => variable);
}

/** A whole configuration file but for the secrets, which it only names. */
export function firstConfiguration(baseUrl: string, account: Account): string {
  const credential = account === 'key' ? 'apiKey' : 'token';
  const secrets = Object.entries(SECRETS[account]).map(
    ([field, { variable, description }]) =>
      `    # ${description.replace(/;.*/, '')}\n    ${field}: { env: ${variable} }\n`,
  );
  return `# The configuration of bearerd. "bearerd check" names every fault in it, "bearerd check --online" logs in, too.
# No secret stands here: { env: VARIABLE } names a variable that holds it, { file: PATH } a file.

# The API. A path in it is kept as a prefix of every request's path.
baseUrl: ${baseUrl}

credentials:
  ${credential}:
    # ${account === 'key' ? 'A long-lived key, sent as Authorization: Bearer KEY. For another header: header: X-Api-Key' : 'Logs in, and keeps the token fresh'}
    type: ${TYPES[account]}
${account === 'oauth2' ? tokenUrlLines(baseUrl) : ''}${secrets.join('')}
# Which requests get which credential. The longest prefix wins, whatever the order.
routes:
  - { prefix: /, credential: ${credential} }
  # - { prefix: /health, credential: none }    # goes without a credential
  # - { prefix: /admin, credential: deny }     # is refused with 403

# What else there is, with its defaults ("bearerd start --help" lists all of it):
${NEXT.map(commented).join('')}`;
}

function tokenUrlLines(baseUrl: string): string {
  return `    # The whole URL of the token endpoint: the API's documentation says it
    tokenUrl: ${new URL(baseUrl).origin}/oauth2/token
`;
}

function commented(name: (typeof NEXT)[number]): string {
  const { key, default: preset, description } = SETTINGS[name];
  const [group, inner] = key.split('.');
  const entry = inner === undefined ? `${key}: ${preset}` : `${group}: { ${inner}: ${preset} }`;
  return `\n# ${description.replaceAll('`', '')}\n# ${entry}\n`;
}
