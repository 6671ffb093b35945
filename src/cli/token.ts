import { sentOf } from '../app/credentials.ts';
import { logsIn } from '../app/logins.ts';
import { UsageError } from '../base/errors.ts';
import type { Config } from '../config/config.ts';
import type { CredentialConfig } from '../config/sections/credentials/credential.ts';
import { didYouMean, nearest } from '../config/values/nearest.ts';
import { type Command, complain, print, textOption } from './command.ts';
import { configurationOf } from './configuration.ts';
import { EXIT } from './exit-codes.ts';
import { logIn } from './log-in.ts';

export const token: Command = {
  synopsis: '[--credential NAME] [--header | --json] [--config FILE]',
  summary: 'logs in once and prints the token, and nothing else, on stdout',
  help: `
  --credential NAME   which one; needed where several log in and none is called "token"
  --header            the whole "Authorization: Bearer ..." line
  --json              an object of "token" and "expiresAt"
`,
  examples: [
    'bearerd token --credential token --json',
    'curl -H "$(bearerd token --header)" https://api.example.com/companies',
  ],
  variables: ['BEARERD_CONFIG', 'BEARERD_CLIENT_ID', 'BEARERD_CLIENT_SECRET_FILE'],
  options: { credential: { type: 'string' }, header: { type: 'boolean' }, json: { type: 'boolean' } },
  positionals: [0, 0],
  settings: true,
  async run(values) {
    if (values.header === true && values.json === true)
      throw new UsageError('--header and --json exclude each other; give one of them');
    const config = await configurationOf(values);
    const credential = choose(config, textOption(values, 'credential'));
    const { value, expiresAt } = await obtain(config, credential);
    if (values.json === true) await print(`${JSON.stringify({ token: value, expiresAt })}\n`);
    else if (values.header === true) await print(`${headerLine(credential, value)}\n`);
    else await print(`${value}\n`);
    return EXIT.done;
  },
};

function choose({ credentials }: Config, name: string | undefined): CredentialConfig {
  const known = [...credentials.keys()];
  const credential =
    name === undefined ? (credentials.get('token') ?? theOnlyLogin(credentials)) : credentials.get(name);
  if (credential !== undefined) return credential;
  if (name === undefined)
    throw new UsageError(
      'no credential that logs in is configured; name one that has a key with --credential',
    );
  const near = nearest(name, known);
  const choice = known.length === 0 ? 'none is configured' : `configured: ${known.join(', ')}`;
  throw new UsageError(`--credential ${name}: there is no such credential${didYouMean(near)} (${choice})`);
}

/** The account decides what the token can do: the user must not have to find out by trying. */
function theOnlyLogin(credentials: Config['credentials']): CredentialConfig | undefined {
  const [first, ...others] = [...credentials.values()].filter(logsIn);
  if (others.length === 0) return first;
  const names = [first, ...others].map((credential) => credential?.name).join(', ');
  throw new UsageError(`several credentials log in; name one by --credential: ${names}`);
}

/** A key is used as it is, and never expires; a token takes a login. */
async function obtain(
  config: Config,
  credential: CredentialConfig,
): Promise<{ value: string; expiresAt: string | null }> {
  if (!logsIn(credential)) return { value: sentOf(credential).expose(), expiresAt: null };
  const { token, lifetimeMs, warnings } = await logIn(config, credential);
  for (const warning of warnings) complain(warning);
  return { value: token.expose(), expiresAt: new Date(Date.now() + lifetimeMs).toISOString() };
}

function headerLine({ name, header, scheme, queryOrCookie }: CredentialConfig, value: string): string {
  if (queryOrCookie?.in === 'query') {
    throw new UsageError(
      `--header: ${name} is sent as the query parameter ${queryOrCookie.name}, and in no header`,
    );
  }
  if (queryOrCookie?.in === 'cookie') return `Cookie: ${queryOrCookie.name}=${value}`;
  return `${header}: ${scheme === '' ? '' : `${scheme} `}${value}`;
}
