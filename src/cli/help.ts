import { VERSION } from '../base/version.ts';
import { FLAGS } from '../config/declaration/flags.ts';
import { formsOf } from '../config/declaration/setting.ts';
import { SECRET_SETTINGS, SETTINGS } from '../config/declaration/settings.ts';
import { type Command, usageOf } from './command.ts';
import { COMMANDS } from './commands.ts';

const DEFAULTS: ReadonlyMap<string, string> = new Map(
  Object.values(SETTINGS).map((setting) => [setting.variable, 'default' in setting ? setting.default : '']),
);

export async function overview(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => `  ${name.padEnd(12)} ${(await load()).summary}`),
  );
  return `bearerd ${VERSION}: adds a fresh access token to the requests of programs that have none

usage: bearerd [COMMAND] [--config FILE]

${lines.join('\n')}

Without a command it is "start". Each command has its own --help; "bearerd start --help" lists every setting.
The configuration is flags (--base-url), the environment (BEARERD_BASE_URL) and a YAML file, which "bearerd init" begins.

examples:
  bearerd demo
  bearerd init --base-url https://api.example.com
  bearerd check --online
`;
}

export function commandHelp(name: string, command: Command): string {
  return `usage: ${usageOf(name, command)}

${command.summary}
${command.help}
  --config FILE   the configuration file
  --help          this
  --version       the version
${settings(name, command)}${variables(command)}
examples:
${command.examples.map((example) => `  ${example}\n`).join('')}`;
}

function settings(name: string, command: Command): string {
  if (command.settings !== true) return '';
  if (name === 'start') return `\n${settingsHelp()}`;
  return '\nEach setting has a flag, too, which wins over its variable: "bearerd start --help" lists them.\n';
}

/** Every setting with its flag, for users who have the program without its documentation. */
function settingsHelp(): string {
  const entries = FLAGS.map(({ name, variable, bare, description }) => {
    const preset = DEFAULTS.get(variable) ?? '';
    const value = bare ? '[=true|false]' : variable.endsWith('_FILE') ? ' FILE' : ' VALUE';
    const head = `  --${name}${value}   ${variable}${preset === '' ? '' : `, ${preset} unless given`}`;
    return `${head}\n${wrapped(description.replaceAll('`', ''))}`;
  });
  return `settings, by flag or variable (the flag wins); lists are text with commas:\n${entries.join('')}`;
}

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 100) lines.push(`      ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line) => `${line}\n`).join('');
}

function variables({ variables: names }: Command): string {
  if (names.length === 0) return '';
  const width = Math.max(...names.map((name) => name.length));
  return `\nvariables:\n${names.map((name) => `  ${name.padEnd(width)}   ${meaning(name)}\n`).join('')}`;
}

/** The words of the settings' table, without its marks. */
function meaning(name: string): string {
  const own = Object.values(SETTINGS).find(({ variable }) => variable === name);
  const secret = SECRET_SETTINGS.find((setting) => formsOf(setting)[1] === name);
  const text = own?.description ?? (secret && `file of the ${secret.description}`) ?? '';
  return text.replaceAll('`', '');
}
