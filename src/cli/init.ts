import { ConfigError } from '../base/config-error.ts';
import { UsageError } from '../base/errors.ts';
import { SETTINGS } from '../config/declaration/settings.ts';
import { isInsecure } from '../config/values/urls.ts';
import { type Command, print, textOption } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { ACCOUNTS, type Account, firstConfiguration, variablesOf } from './first-configuration.ts';
import { assertNew, writeNewFiles } from './new-files.ts';
import { questions } from './questions.ts';

const DEFAULT_OUTPUT = 'bearerd.yaml';
const EXAMPLE_URL = 'https://api.example.com';

export const init: Command = {
  synopsis: '[--base-url URL] [--account service|user|key|oauth2] [--from-curl LINE [--try]] [--output FILE]',
  summary: 'writes a first configuration file, with comments and without any secret',
  help: `
  --base-url URL   the upstream; ${EXAMPLE_URL} unless given
  --account KIND   what it logs in with: a service account (the default) or a user at the API's session endpoint, a key that
                   needs no login, or a client of an OAuth 2.0 token endpoint
  --from-curl LINE what a line of curl calls and with which credential: the secret goes to the file bearerd-secret,
                   and the same call by bearerd is printed. "-" reads the line from standard input, which keeps the
                   secret out of the shell's history
  --try            with --from-curl: sends the request (GET and HEAD only) directly and by bearerd, and compares
  --output FILE    where to write; ${DEFAULT_OUTPUT} unless given. A file that exists stays as it is

On a terminal it asks for what isn't given.
`,
  examples: [
    'bearerd init',
    'bearerd init --from-curl \'curl https://api.example.com/v1/me -H "X-Api-Key: …"\'',
    'bearerd init --base-url https://api.example.com --account key --output api.yaml',
  ],
  variables: [],
  options: {
    'base-url': { type: 'string' },
    account: { type: 'string' },
    'from-curl': { type: 'string' },
    try: { type: 'boolean' },
    output: { type: 'string' },
  },
  positionals: [0, 0],
  slip: (args) => {
    if (args[args.indexOf('--from-curl') + 1] === 'curl')
      return 'put the whole line of curl in single quotes';
    return /^https?:/i.test(args[0] ?? '') ? 'give the URL with --base-url' : undefined;
  },
  async run(values) {
    const output = textOption(values, 'output') ?? DEFAULT_OUTPUT;
    const given = { url: textOption(values, 'base-url'), account: textOption(values, 'account') };
    const line = textOption(values, 'from-curl');
    if (line !== undefined) {
      if (given.url !== undefined || given.account !== undefined)
        throw new UsageError('--from-curl takes the URL and the account from the line: give neither of them');
      const { fromCurl } = await import('./from-curl/from-curl.ts');
      return fromCurl(line, output, values.try === true);
    }
    if (values.try === true) throw new UsageError('--try needs --from-curl LINE');
    // What was given wrongly is said before anything is asked.
    if (given.url !== undefined) checkedUrl(given.url);
    if (given.account !== undefined) checkedAccount(given.account);
    assertNew([output]);
    const { url, account } = await asked(given);
    writeNewFiles([{ path: output, text: firstConfiguration(checkedUrl(url), checkedAccount(account)) }]);
    await print(nextSteps(output, checkedAccount(account), toReplace(url, checkedAccount(account))));
    return EXIT.done;
  },
};

interface Answers {
  readonly url: string;
  readonly account: string;
}

/** Asks a person for what is missing; takes the defaults if there is none to ask. */
async function asked({ url, account }: { [K in keyof Answers]: string | undefined }): Promise<Answers> {
  const defaults = { url: url ?? EXAMPLE_URL, account: account ?? ACCOUNTS[0] };
  const person = url === undefined || account === undefined ? questions() : undefined;
  if (person === undefined) return defaults;
  try {
    return {
      url: url ?? (await person.ask('Base URL of the API', checkedUrl, defaults.url)),
      account:
        account ?? (await person.ask(`Account (${ACCOUNTS.join(', ')})`, checkedAccount, defaults.account)),
    };
  } finally {
    person.close();
  }
}

function checkedUrl(text: string): string {
  const { kind } = SETTINGS.upstream;
  const parsed = kind.parse(text);
  if ('problem' in parsed) throw new ConfigError([{ key: '--base-url', problem: parsed.problem }]);
  if (isInsecure(parsed.value.origin)) {
    throw new ConfigError([
      { key: '--base-url', problem: 'must be https:// for a host that is not loopback' },
    ]);
  }
  return String(kind.format(parsed.value));
}

function checkedAccount(text: string): Account {
  const account = ACCOUNTS.find((each) => each === text);
  if (account === undefined) throw new UsageError(`--account: must be one of ${ACCOUNTS.join(', ')}`);
  return account;
}

/** What in the file is an example, as no terminal was there to ask on, or nobody can know it but the user. */
function toReplace(url: string, account: Account): string {
  const left = [
    ...(url === EXAMPLE_URL ? [`baseUrl: ${EXAMPLE_URL} is an example`] : []),
    ...(account === 'oauth2' ? ['tokenUrl: its path is a guess'] : []),
  ];
  return left.map((what) => `  ${what}; write that of your API.\n`).join('');
}

function nextSteps(path: string, account: Account, replace: string): string {
  const config = path === DEFAULT_OUTPUT ? '' : ` --config ${path}`;
  const variables = variablesOf(account).map((variable) => `  export ${variable}=…\n`);
  const first = replace === '' ? '' : `To be replaced in it:\n\n${replace}\n`;
  return `${path} is written. ${first}Next:\n\n${variables.join('')}  bearerd check --online${config}\n  bearerd${config}\n`;
}
