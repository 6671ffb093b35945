import { createInterface } from 'node:readline/promises';
import { ConfigError } from '../base/config-error.ts';
import { NotWrittenError, UsageError } from '../base/errors.ts';
import { SETTINGS } from '../config/declaration/settings.ts';
import { isInsecure } from '../config/values/urls.ts';
import { type Command, print, textOption } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { ACCOUNTS, type Account, firstConfiguration, variablesOf } from './first-configuration.ts';
import { assertNew, writeNewFiles } from './new-files.ts';

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
    await print(nextSteps(output, checkedAccount(account)));
    return EXIT.done;
  },
};

interface Answers {
  readonly url: string;
  readonly account: string;
}

/** Asks a person for what is missing, on stderr; takes the defaults where there is none to ask. */
async function asked({ url, account }: { [K in keyof Answers]: string | undefined }): Promise<Answers> {
  const defaults = { url: url ?? EXAMPLE_URL, account: account ?? ACCOUNTS[0] };
  if (!process.stdin.isTTY || !process.stderr.isTTY) return defaults;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and the end of the input are a no.
  const ended = new Promise<never>((_, reject) => {
    terminal.once('close', () => reject(new NotWrittenError('nothing was written')));
  });
  /** Asks again until the answer can be used: a slip must not end it. */
  const ask = async (question: string, preset: string, check: (answer: string) => unknown) => {
    for (;;) {
      const given = (await Promise.race([terminal.question(`${question} [${preset}]: `), ended])).trim();
      const answer = given === '' ? preset : given;
      try {
        check(answer);
        return answer;
      } catch (error) {
        if (!(error instanceof ConfigError || error instanceof UsageError)) throw error;
        process.stderr.write(`  ${problemOf(error)}\n`);
      }
    }
  };
  ended.catch(() => {});
  try {
    return {
      url: url ?? (await ask('Base URL of the API', defaults.url, checkedUrl)),
      account: account ?? (await ask(`Account (${ACCOUNTS.join(', ')})`, defaults.account, checkedAccount)),
    };
  } finally {
    terminal.close();
  }
}

/** Without the flag, which is our own addition. */
function problemOf(error: ConfigError | UsageError): string {
  return error.message.replace(/^--[\w-]+: /, '');
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

function nextSteps(path: string, account: Account): string {
  const config = path === DEFAULT_OUTPUT ? '' : ` --config ${path}`;
  const variables = variablesOf(account).map((variable) => `  export ${variable}=…\n`);
  return `${path} is written. Next:\n\n${variables.join('')}  bearerd check --online${config}\n  bearerd${config}\n`;
}
