import { formsOf } from '../declaration/setting.ts';
import { PLAIN_SETTINGS, SECRET_SETTINGS } from '../declaration/settings.ts';
import { inForceAmong } from '../reading/environment.ts';
import { below, isMap } from '../reading/maps.ts';
import { placeInFile, type Reading } from '../reading/reading.ts';
import { SETTINGS_OF_FIELDS } from '../sections/credentials/credentials.ts';

/** Where each value comes from, by its dotted key: `--listen`, `BEARERD_LISTEN`, `.env`, `bearerd.yaml:12` or `default`. */
export type Provenance = Readonly<Record<string, string>>;

function variablesOf(key: string): readonly string[] {
  const plain = PLAIN_SETTINGS.filter(([, { key: at }]) => at !== undefined && isAtOrBelow(key, at));
  const secret = SETTINGS_OF_FIELDS.get(key) ?? SECRET_SETTINGS.filter((setting) => setting.key === key);
  return [...plain.map(([, { variable }]) => variable), ...secret.flatMap(formsOf)];
}

function isAtOrBelow(key: string, top: string): boolean {
  return key === top || key.startsWith(`${top}.`) || key.startsWith(`${top}[`);
}

function sourceOfValue(key: string, { environment, file, commands }: Reading): string {
  const variable = inForceAmong(variablesOf(key), environment);
  if (variable !== undefined) return environment.sourceOf(variable) + commands.words(variable);
  // The entries of a list may stand in the file as one text with commas.
  const inFile = [key, key.replace(/\[\d+\]$/, '')].find((at) => file.placeOf(at)?.exact === true);
  const place = inFile === undefined ? undefined : placeInFile(inFile, file);
  return place === undefined ? 'default' : place + commands.words(key);
}

/** Tells of every single value of what is in force. */
export function provenanceOf(effective: unknown, reading: Reading): Provenance {
  const provenance: Record<string, string> = {};
  const visit = (value: unknown, key: string): void => {
    const entries = Array.isArray(value)
      ? value.map((item, index) => [`${key}[${index}]`, item] as const)
      : isMap(value)
        ? Object.entries(value).map(([name, item]) => [below(key, name), item] as const)
        : [];
    for (const [at, item] of entries) visit(item, at);
    if (entries.length === 0) provenance[key] = sourceOfValue(key, reading);
  };
  visit(effective, '');
  return provenance;
}
