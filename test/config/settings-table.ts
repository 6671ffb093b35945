import { formsOf } from '../../src/config/declaration/setting.ts';
import { SETTINGS } from '../../src/config/declaration/settings.ts';

export const TABLE_BEGIN = '<!-- settings:begin -->';
export const TABLE_END = '<!-- settings:end -->';

const code = (text: string | undefined): string => (text === undefined || text === '' ? '' : `\`${text}\``);

/** The table of all settings in docs/configuration.md, between its two markers. */
export function settingsTable(): string {
  const rows = Object.values(SETTINGS).map((setting) => {
    const names = 'secret' in setting ? formsOf(setting) : [setting.variable];
    const preset = 'required' in setting ? 'required' : code('default' in setting ? setting.default : '');
    const key = code('key' in setting ? setting.key : '');
    return `| ${names.map(code).join(', ')} | ${key} | ${preset} | ${setting.description} |`;
  });
  return [
    TABLE_BEGIN,
    '| variable | file key | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    TABLE_END,
  ].join('\n');
}
