import { formsOf } from '../declaration/setting.ts';
import { PLAIN_SETTINGS, SECRET_SETTINGS } from '../declaration/settings.ts';
import { inForceAmong } from '../reading/environment.ts';
import { below, isMap } from '../reading/maps.ts';
import { placeInFile, type Reading } from '../reading/reading.ts';
import type { Credentials } from '../sections/credentials/credentials.ts';

/** The variable that gives the value at a dotted key. */
function variableAt(key: string, { environment }: Reading, { declared }: Credentials): string | undefined {
  const [, name = '', field = ''] = /^credentials\.([^.]+)\.(.+)$/.exec(key) ?? [];
  const ofCredential = declared.get(name)?.at.below(field).key ?? '';
  if (ofCredential in environment.variables) return ofCredential;
  const plain = PLAIN_SETTINGS.filter(([, { key: at }]) => at !== undefined && isAtOrBelow(key, at));
  const secrets = SECRET_SETTINGS.filter((setting) => setting.key === key);
  return inForceAmong(
    [...plain.map(([, { variable }]) => variable), ...secrets.flatMap(formsOf)],
    environment,
  );
}

function isAtOrBelow(key: string, top: string): boolean {
  return key === top || key.startsWith(`${top}.`) || key.startsWith(`${top}[`);
}

function sourceOfValue(key: string, reading: Reading, credentials: Credentials): string {
  const { environment, file, commands } = reading;
  const variable = variableAt(key, reading, credentials);
  if (variable !== undefined) return environment.sourceOf(variable) + commands.words(variable);
  // A list may be one text with commas in the file.
  const inFile = [key, key.replace(/\[\d+\]$/, '')].find((at) => file.placeOf(at)?.exact === true);
  const place = inFile === undefined ? undefined : placeInFile(inFile, file);
  return place === undefined ? 'default' : place + commands.words(key);
}

/** Where each value comes from, by its dotted key: `--listen`, `BEARERD_LISTEN`, `.env`, `bearerd.yaml:12` or `default`. */
export function provenanceOf(
  effective: unknown,
  reading: Reading,
  credentials: Credentials,
): Readonly<Record<string, string>> {
  const provenance: Record<string, string> = {};
  const visit = (value: unknown, key: string): void => {
    const entries = Array.isArray(value)
      ? value.map((item, index) => [`${key}[${index}]`, item] as const)
      : isMap(value)
        ? Object.entries(value).map(([name, item]) => [below(key, name), item] as const)
        : [];
    for (const [at, item] of entries) visit(item, at);
    if (entries.length === 0) provenance[key] = sourceOfValue(key, reading, credentials);
  };
  visit(effective, '');
  return provenance;
}
