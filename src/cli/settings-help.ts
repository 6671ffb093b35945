import { FLAGS } from '../config/declaration/flags.ts';
import { SETTINGS } from '../config/declaration/settings.ts';

const DEFAULTS: ReadonlyMap<string, string> = new Map(
  Object.values(SETTINGS).map((setting) => [setting.variable, 'default' in setting ? setting.default : '']),
);

/** Every setting with its flag, for users who have the program without its documentation. */
export function settingsHelp(): string {
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
