import { VERSION } from '../base/version.ts';
import { SECRET_SETTINGS, SETTINGS } from '../config/declaration/settings.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { settingsHelp } from './settings-help.ts';

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
  return `usage: bearerd ${name} ${command.synopsis}

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

function variables({ variables: names }: Command): string {
  if (names.length === 0) return '';
  const width = Math.max(...names.map((name) => name.length));
  return `\nvariables:\n${names.map((name) => `  ${name.padEnd(width)}   ${meaning(name)}\n`).join('')}`;
}

/** The words of the settings' table, without its marks. */
function meaning(name: string): string {
  const own = Object.values(SETTINGS).find(({ variable }) => variable === name);
  const secret = SECRET_SETTINGS.find(({ variable }) => `${variable}_FILE` === name);
  const text = own?.description ?? (secret && `file of the ${secret.description}`) ?? '';
  return text.replaceAll('`', '');
}
